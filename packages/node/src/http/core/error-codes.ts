/**
 * Codes of HTTP errors. Programs decide by the code, people read the message. `npm run reference` writes
 * docs/reference/errors.md from this table.
 */

type Description = {
  /** HTTP statuses of the code; the first is the default. */
  readonly statuses: readonly [number, ...number[]];
  /** Cause of the error. */
  readonly why: string;
  /** Advice for the client. */
  readonly next: string;
};

/** Description of an unknown resource, the same for all resources of the chain. */
const unknown = (thing: string, next = "check the id"): Description => ({
  statuses: [404],
  why: `There is no such ${thing}.`,
  next,
});

const code = (statuses: Description["statuses"], why: string, next: string): Description => ({
  statuses,
  why,
  next,
});

/** Descriptions by chapter of the page, then by code. */
const CHAPTERS = {
  "Every route": {
    PATH_UNKNOWN: code(
      [404],
      "No route has this path.",
      "compare it with `/documentation`; with `--webhooks off` there are no routes of webhooks",
    ),
    METHOD_NOT_ALLOWED: code(
      [405, 404],
      "The path has no such method; the header `Allow` lists those it has. 404 on the routes of the old node.",
      "use one of them",
    ),
    UNKNOWN_MEMBER: code(
      [422, 400],
      "A parameter or a member of the body is not known here; the message names it. 400 for uniks.",
      "correct the name, or leave it out",
    ),
    MISSING_MEMBER: code([422, 400], "A member is required. 400 for uniks.", "add it"),
    INVALID_MEMBER: code(
      [422, 400],
      "A parameter or a member does not have the expected form; the message names it and the form. 400 for uniks.",
      "correct the value",
    ),
    INVALID_CURSOR: code(
      [422, 400],
      "The cursor is not one of this list in this order. 400 for uniks.",
      "begin again with `cursor=start`",
    ),
    INVALID_JSON: code(
      [422],
      "The body is not JSON, or has a member such as `__proto__`.",
      "correct the body",
    ),
    UNSUPPORTED_CONTENT_TYPE: code(
      [415, 422],
      "The body is not declared as JSON. 422 on the routes of the old node.",
      "send `Content-Type: application/json`",
    ),
    BODY_TOO_LARGE: code([422], "The body is larger than 1 MiB.", "send less in one request"),
    BODY_TOO_COMPLEX: code(
      [422],
      "The body is nested deeper than 64 levels, or has more than 50,000 members and items.",
      "send less in one request",
    ),
    BODY_LENGTH_WRONG: code(
      [422],
      "The body is not as long as `Content-Length` says.",
      "let the HTTP library count it",
    ),
    PATH_ENCODING: code([400], "The path cannot be percent-decoded.", "encode each segment, `%` as `%25`"),
    INVALID_HTTP: code(
      [400],
      "The request cannot be read as HTTP.",
      "use http, not https, and an HTTP library",
    ),
    HEADERS_TOO_LONG: code([431], "The path and the headers are longer than 16 KiB.", "ask for less at once"),
    REQUEST_LATE: code([408], "The request or its body did not arrive in time.", "send it again"),
    ADDRESS_REFUSED: code(
      [403],
      "The address of the caller may not use this node, or its register of webhooks.",
      "the operator lists addresses with `--http-allow` and `--webhook-legacy`",
    ),
    RATE_LIMITED: code([429], "Too many requests of this client.", "wait as long as `retry-after` says"),
    ANSWER_LATE: code(
      [503],
      "The answer was not ready in time.",
      "ask for fewer rows, or again after `retry-after`",
    ),
    NODE_BUSY: code([503], "Too much is under way.", "ask again after `retry-after`"),
    DISK_FULL: code(
      [503],
      "The disk of the node is full: what the request would have stored is not stored.",
      "ask again after `retry-after`; the operator frees space",
    ),
    DISK_UNWRITABLE: code(
      [503],
      "The disk of the node refuses writes: what the request would have stored is not stored.",
      "ask again after `retry-after`; the operator looks at the log",
    ),
    NODE_STARTING: code([503], "The node has no block yet.", "ask again after `retry-after`"),
    INTERNAL_ERROR: code(
      [500],
      "The node failed; its log has the reason.",
      "report it, with the lines of the log",
    ),
  },
  "The token of the node": {
    TOKEN_MISSING: code([401], "The header `Authorization` is missing.", "send it with the webhook token"),
    TOKEN_WRONG: code(
      [401],
      "The header `Authorization` does not hold the webhook token of this node.",
      "`uniknode token` shows it; the token of one webhook is another one",
    ),
    SESSION_MISSING: code(
      [401],
      "The browser is not signed in at the console, or its session has ended.",
      "open the link that `uniknode console` prints",
    ),
    CODE_WRONG: code(
      [401],
      "The link was used already, or is older than ten minutes.",
      "`uniknode console` prints another one",
    ),
    CROSS_SITE: code(
      [403],
      "With `--webhook-legacy`, and for the console: the `Host` is not a name of this machine, or the `Origin` is another site.",
      "the operator lists names with `--http-hosts`",
    ),
    PROXY_UNKNOWN: code(
      [403],
      "With `--webhook-legacy`: the request came through a proxy.",
      "the operator names the proxy with `--http-trust-proxy`",
    ),
  },
  "The chain": {
    BLOCK_UNKNOWN: unknown("block"),
    TRANSACTION_UNKNOWN: unknown("transaction", "ask again when its block is forged"),
    WALLET_UNKNOWN: unknown("wallet", "a wallet exists from its first transaction on"),
    DELEGATE_UNKNOWN: unknown("delegate"),
    ROUND_UNKNOWN: unknown("round", "`GET /api/blockchain` tells the height"),
    VOTE_UNKNOWN: unknown("vote"),
    LOCK_UNKNOWN: unknown("open lock", "a lock that was claimed or refunded is gone"),
    ENTITY_UNKNOWN: unknown("entity"),
    UNIK_UNKNOWN: unknown("token"),
    PROPERTY_UNKNOWN: unknown("property of the token", "`GET /api/uniks/{id}/properties` lists them"),
    TOKEN_TYPE_UNKNOWN: code([404, 422], "Tokens of this type are not served.", "use `uniks` or `nfts`"),
    FACT_UNKNOWN: unknown(
      "fact, tile or size in the tree of final facts",
      "`GET /api/v2/facts/checkpoint` tells the size",
    ),
    PEER_UNKNOWN: unknown("peer", "`GET /api/peers` lists them"),
    INVALID_VERSION_RANGE: code([404], "`version` is no range of versions.", "write it like `>=5.7.0`"),
  },
  Webhooks: {
    UNKNOWN_EVENT: code(
      [422],
      "No event has this name; the message suggests the nearest ones.",
      "choose one of [events.md](events.md)",
    ),
    TARGET_REFUSED: code(
      [422],
      "The target is an address that this node does not call, or is not https.",
      "use a public address; the operator allows others with `--webhook-private-targets` or `--webhook-allow`",
    ),
    WEBHOOK_UNKNOWN: unknown("webhook", "`GET /api/v2/webhooks` lists them"),
    WEBHOOK_LIMIT: code(
      [422],
      "The register is full: 1,000 webhooks, 16 MiB of conditions.",
      "remove a webhook, or start the node with a higher `--webhook-limit`",
    ),
    WEBHOOK_OFF: code(
      [409],
      "The webhook is disabled or suspended: it cannot replay.",
      "enable it, or ping it with success",
    ),
    DELIVERY_UNKNOWN: unknown("delivery", "`GET /api/v2/webhooks/{id}/deliveries` lists those in the log"),
    DELIVERY_UNDONE: code(
      [409],
      "The block of the delivery was reverted, and the receiver got a retraction.",
      "nothing: it is not true any more",
    ),
    REPLAY_UNKNOWN: code([404], "The webhook has no replay, or none that is running.", "start one"),
    REPLAY_RUNNING: code([409], "A replay of the webhook is running.", "wait for its end, or cancel it"),
    PING_RUNNING: code([409], "A ping of the webhook is under way.", "ask again after 5 s"),
  },
  "Live stream": {
    STREAM_INVALID: code([422], "The parameters do not go together; the message says why.", "correct them"),
    STREAM_GONE: code(
      [410],
      "The events after the `Last-Event-ID` are no longer available.",
      "read the state, and connect without it",
    ),
    STREAM_LIMIT: code(
      [429],
      "20 streams are open from one address (the /64 of an IPv6 address), or 60 from its /48.",
      "close one of them",
    ),
    STREAM_SUSPENDED: code(
      [429],
      "The patterns of a stream from this address cost too much.",
      "ask after `retry-after`, with fewer or smaller patterns; without any, at once",
    ),
    STREAM_FULL: code([503], "200 streams are open.", "ask again after `retry-after`"),
  },
  "Dev chain": {
    DEV_ONLY: code([403], "The chain is no dev chain.", "start one with `uniknode dev`"),
    DEV_STARTING: code([503], "The first blocks of the chain are being forged.", "ask again in a moment"),
    DEV_DEPTH: code(
      [422],
      "The branch would begin below the first blocks of the chain.",
      "ask for a lower `depth`",
    ),
    DEV_BRANCH: code([422], "The branch would not be longer than what it replaces.", "ask for more `blocks`"),
    DEV_SNAPSHOT: code([409], "No block of the chain has this id.", "make a snapshot first"),
    DEV_TIME: code(
      [422],
      "The time is in the past, or after the year 2100.",
      "choose a later or an earlier one",
    ),
    DEV_DELEGATES: code(
      [409],
      "The node has no key of an active delegate.",
      "start the chain anew with `--reset`",
    ),
    CHAIN_UNDO_MISSING: code([409], "The blocks are too deep to be reverted.", "choose a later block"),
  },
} as const satisfies Record<string, Record<string, Description>>;

type Chapters = typeof CHAPTERS;

export type ErrorCode = { [C in keyof Chapters]: keyof Chapters[C] }[keyof Chapters];

export const ERROR_CHAPTERS: Readonly<Record<string, Readonly<Record<string, Description>>>> = CHAPTERS;

const STATUSES = new Map(
  Object.values(ERROR_CHAPTERS).flatMap((codes) =>
    Object.entries(codes).map(([code, { statuses }]) => [code, statuses[0]] as const),
  ),
);

/** Returns the default HTTP status of a code. */
export const statusOf = (code: ErrorCode): number => STATUSES.get(code)!;
