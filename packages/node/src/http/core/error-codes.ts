/**
 * Codes of HTTP errors. Programs decide by the code, people read the message. `npm run reference` writes
 * docs/reference/errors.md from this table.
 */
import { present } from "../../platform/present.ts";

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
  why: `The ${thing} does not exist.`,
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
      "No route matches this path.",
      "see `/documentation`; with `--webhooks off`, the webhook routes do not exist",
    ),
    METHOD_NOT_ALLOWED: code(
      [405, 404],
      "The path does not support this method; the header `Allow` lists the methods that it supports. 404 on routes of the old node.",
      "use one of the listed methods",
    ),
    UNKNOWN_MEMBER: code(
      [422, 400],
      "Unknown parameter or body member; the message names it. 400 for uniks.",
      "correct the name, or omit it",
    ),
    MISSING_MEMBER: code([422, 400], "A required member is missing. 400 for uniks.", "add it"),
    INVALID_MEMBER: code(
      [422, 400],
      "A parameter or member has an invalid value; the message names it and the expected format. 400 for uniks.",
      "correct the value",
    ),
    INVALID_CURSOR: code(
      [422, 400],
      "The cursor does not belong to this list in this order. 400 for uniks.",
      "start again with `cursor=start`",
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
      "The length of the body does not match `Content-Length`.",
      "let the HTTP library set the header",
    ),
    PATH_ENCODING: code(
      [400],
      "The path cannot be percent-decoded.",
      "percent-encode each segment, `%` as `%25`",
    ),
    INVALID_HTTP: code([400], "The request is not valid HTTP.", "use http, not https, and an HTTP library"),
    HEADERS_TOO_LONG: code(
      [431],
      "The path and the headers are longer than 16 KiB.",
      "send shorter paths and headers",
    ),
    REQUEST_LATE: code([408], "The request or its body did not arrive in time.", "send it again"),
    ADDRESS_REFUSED: code(
      [403],
      "The client's address is not allowed to use this node.",
      "the operator allows addresses with `--http-allow`",
    ),
    RATE_LIMITED: code([429], "This client sent too many requests.", "wait for the time in `retry-after`"),
    RESPONSE_LATE: code(
      [503],
      "The response was not ready in time.",
      "request fewer rows, or retry after `retry-after`",
    ),
    NODE_BUSY: code([503], "Too many requests are in progress.", "retry after `retry-after`"),
    DISK_FULL: code(
      [503],
      "The disk of the node is full. Accepted transactions are pending and are stored later; any other request stored nothing.",
      "retry after `retry-after`, but do not repeat transactions; the operator must free space",
    ),
    DISK_UNWRITABLE: code(
      [503],
      "The disk of the node is not writable. Accepted transactions are pending and are stored later; any other request stored nothing.",
      "retry after `retry-after`, but do not repeat transactions; the operator finds the reason in the log",
    ),
    DATABASE_UNREACHABLE: code(
      [503],
      "The API server cannot reach its database.",
      "retry after `retry-after`; the operator finds the reason in the log",
    ),
    NODE_UNREACHABLE: code(
      [503],
      "The API server can reach none of its nodes.",
      "retry after `retry-after`; the operator finds the reason in the log",
    ),
    POSITION_INVALID: code(
      [400],
      "The header `X-Uniknode-At-Least` is not a height and an id.",
      "send `HEIGHT:ID` from the headers of an earlier response",
    ),
    REPLICA_BEHIND: code(
      [503],
      "The API server has not reached the block of `X-Uniknode-At-Least` yet.",
      "retry after `retry-after`",
    ),
    BRANCH_GONE: code(
      [409],
      "The block of `X-Uniknode-At-Least` is no longer on the chain.",
      "reload your state, and send the request without the header",
    ),
    NODE_STARTING: code(
      [503],
      "The node has no block yet, or its mirror is being built.",
      "retry after `retry-after`",
    ),
    INTERNAL_ERROR: code(
      [500],
      "An internal error occurred; the log of the node has the reason.",
      "report it with the lines of the log",
    ),
  },
  "The token of the node": {
    TOKEN_MISSING: code([401], "The header `Authorization` is missing.", "send it with the webhook token"),
    TOKEN_WRONG: code(
      [401],
      "The header `Authorization` does not contain the webhook token of this node.",
      "`uniknode token` prints it; the secret of a single webhook is a different token",
    ),
    SESSION_MISSING: code(
      [401],
      "The browser is not signed in at the console, or its session has ended.",
      "open the link that `uniknode console` prints",
    ),
    CODE_WRONG: code(
      [401],
      "The link was already used, or is older than ten minutes.",
      "`uniknode console` prints a new link",
    ),
    CROSS_SITE: code(
      [403],
      "For the console: the `Host` is not a name of this machine, or the `Origin` is a different site.",
      "the operator adds names with `--http-hosts`",
    ),
  },
  "The chain": {
    BLOCK_UNKNOWN: unknown("block"),
    TRANSACTION_UNKNOWN: unknown("transaction", "retry after its block is forged"),
    PROOF_UNAVAILABLE: code(
      [409],
      "The block is the first one, or its parent has an id of 64 bits, which could be forged.",
      "prove later blocks; trust the node for these",
    ),
    WALLET_UNKNOWN: unknown("wallet", "a wallet exists after its first transaction"),
    HISTORY_UNAVAILABLE: code(
      [409],
      "The node does not record earlier states, or the response is of an API server.",
      "send the request to a node that was started with `--history full`",
    ),
    STATE_UNKNOWN: code(
      [404],
      "`at` is above the head, or below the first block whose state the node recorded; the message names both.",
      "choose a height between them; a node with `--history full` and an empty data folder records all blocks",
    ),
    DELEGATE_UNKNOWN: unknown("delegate"),
    ROUND_UNKNOWN: unknown("round", "`GET /api/blockchain` returns the height"),
    VOTE_UNKNOWN: unknown("vote"),
    LOCK_UNKNOWN: unknown("open lock", "claimed and refunded locks are removed"),
    ENTITY_UNKNOWN: unknown("entity"),
    UNIK_UNKNOWN: unknown("token"),
    PROPERTY_UNKNOWN: unknown("property of the token", "`GET /api/uniks/{id}/properties` lists them"),
    TOKEN_TYPE_UNKNOWN: code([404, 422], "Tokens of this type are not served.", "use `uniks` or `nfts`"),
    FACT_UNKNOWN: unknown(
      "fact, tile or size of the Merkle tree of final facts",
      "`GET /api/v2/facts/checkpoint` returns the size",
    ),
    RESOLUTION_UNAVAILABLE: code(
      [409],
      "No round of the chain is final yet, so that no checkpoint contains the map of uniks.",
      "request it again when three rounds of delegates have forged",
    ),
    PEER_UNKNOWN: unknown("peer", "`GET /api/peers` lists them"),
    INVALID_VERSION_RANGE: code(
      [404],
      "`version` is not a valid version range.",
      "use a range such as `>=5.7.0`",
    ),
  },
  Webhooks: {
    UNKNOWN_EVENT: code(
      [422],
      "No event has this name; the message suggests the nearest ones.",
      "choose one of [events.md](events.md)",
    ),
    TARGET_REFUSED: code(
      [422],
      "The target address is not allowed, or is not https.",
      "use a public address; the operator allows others with `--webhook-private-targets` or `--webhook-allow`",
    ),
    WEBHOOK_UNKNOWN: unknown("webhook", "`GET /api/v2/webhooks` lists them"),
    WEBHOOK_LIMIT: code(
      [422],
      "The register is full: 1,000 webhooks, 16 MiB of conditions.",
      "remove a webhook, or start the node with a higher `--webhook-limit`",
    ),
    WEBHOOKS_IN_TRANSFER: code(
      [503],
      "The webhooks are being handed over between the node and delivery workers.",
      "retry after `Retry-After`; the operator can finish or cancel it with `uniknode webhooks hand-over`",
    ),
    WEBHOOKS_OF_WORKERS: code(
      [409],
      "Delivery workers own the webhooks, whose register is in PostgreSQL.",
      "send the request to an API server (`uniknode serve`)",
    ),
    WEBHOOK_KEY_MISSING: code(
      [503],
      "The API server does not have the key that encrypts the secrets of webhooks.",
      "the operator starts it with `--webhook-key-file`",
    ),
    WEBHOOKS_READ_ONLY: code(
      [503],
      "The API server cannot write to its database: it is a replica, or the user may only read.",
      "the operator gives a database to write to with `--webhook-database-url`",
    ),
    WEBHOOK_OFF: code([409], "The webhook is disabled or suspended.", "enable it, or ping it successfully"),
    QUEUE_ENDING: code(
      [409],
      "The pending deliveries of the webhook are being finished, after a suspension or because they were dropped.",
      "retry after 1 s: deliveries that are sent again now would be finished, too",
    ),
    DELIVERY_UNKNOWN: unknown(
      "delivery",
      "`GET /api/v2/webhooks/{id}/deliveries` lists the deliveries in the log",
    ),
    DELIVERY_UNDONE: code(
      [409],
      "The block of the delivery was reverted, and the receiver got a retraction.",
      "no action is needed: the event no longer applies",
    ),
    REPLAY_UNKNOWN: code([404], "The webhook has no replay, or no running replay.", "start one"),
    REPLAY_RUNNING: code([409], "A replay of the webhook is running.", "wait for it to finish, or cancel it"),
    PING_RUNNING: code([409], "A ping of the webhook is in progress.", "retry after 5 s"),
  },
  "Live stream": {
    STREAM_INVALID: code(
      [422],
      "The parameters contradict each other; the message says why.",
      "correct them",
    ),
    STREAM_GONE: code(
      [410],
      "The events after the `Last-Event-ID` are no longer available.",
      "reload your state, and connect without it",
    ),
    STREAM_LIMIT: code(
      [429],
      "20 streams are open from one address (or /64 of IPv6), or 60 from one /48.",
      "close one of them",
    ),
    STREAM_SUSPENDED: code(
      [429],
      "The patterns of a stream from this address are too expensive.",
      "retry after `retry-after` with fewer or smaller patterns; streams without patterns may connect immediately",
    ),
    STREAM_FULL: code([503], "200 streams are open.", "retry after `retry-after`"),
  },
  "Hand-over of webhooks": {
    OWNER_CHANGED: code(
      [409],
      "The owner of the webhooks is not the one from which this step continues.",
      "run `uniknode webhooks hand-over` again",
    ),
    OTHER_NODE: code(
      [409],
      "The webhooks belong to another chain, or the mirror of the database copies the events of another node.",
      "name the node that the mirror follows",
    ),
    EVENTS_MISSING: code(
      [409],
      "The event log does not have all events that are not matched yet.",
      "check that the mirror follows this node",
    ),
    PART_UNEXPECTED: code(
      [409],
      "A part of the rows is not the next one: another command sends rows, too, or the node was restarted.",
      "run `uniknode webhooks hand-over` again",
    ),
    NOT_READY: code(
      [503],
      "A former step is not complete: calls are running, or rows are being dropped.",
      "retry in a moment",
    ),
  },
  "Feed for mirrors": {
    FEED_GONE: code(
      [409],
      "None of the blocks is on the chain, or the changes of the next block are no longer stored; or the next event is not in the log.",
      "rebuild the mirror; continue with the oldest event",
    ),
    FEED_FULL: code([503], "8 responses of the feed are open.", "retry after `retry-after`"),
  },
  "Gateway for other machines": {
    GATEWAY_FULL: code(
      [503],
      "500 calls of other machines are open. The call was not executed.",
      "retry after `retry-after`",
    ),
    GATEWAY_LATE: code(
      [503],
      "The deadline of the call passed before it began. The call was not executed.",
      "retry after `retry-after`",
    ),
  },
  "Dev chain": {
    DEV_ONLY: code([403], "The chain is not a dev chain.", "start one with `uniknode dev`"),
    DEV_STARTING: code([503], "The first blocks of the chain are still being forged.", "retry in a moment"),
    DEV_DEPTH: code(
      [422],
      "The branch would begin below the first blocks of the chain.",
      "use a lower `depth`",
    ),
    DEV_BRANCH: code(
      [422],
      "The branch would not be longer than the blocks that it replaces.",
      "use more `blocks`",
    ),
    DEV_SNAPSHOT: code([409], "No block on the chain has this id.", "create a snapshot first"),
    DEV_TIME: code(
      [422],
      "The time is in the past, or after the year 2100.",
      "choose a time between now and 2100",
    ),
    DEV_DELEGATES: code([409], "The node has no key of an active delegate.", "start over with `--reset`"),
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
export const statusOf = (code: ErrorCode): number => present(STATUSES.get(code), "a status");
