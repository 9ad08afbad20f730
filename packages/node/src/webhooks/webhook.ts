/** A webhook as a plain value. Times are milliseconds since 1970. */

/** What a user decides about a webhook; `conditions` is JSON text, as given: an empty list is always true. */
export type WebhookFields = {
  /** A name for people; absent or null if there is none. */
  readonly name?: string | null;
  /** Null when `events` says it all. */
  readonly event: string | null;
  /** Further names, and patterns. */
  readonly events: readonly string[];
  readonly target: string;
  readonly enabled: boolean;
  readonly conditions: string;
  /** Which of the conditions must hold. */
  readonly match: "any" | "all";
  /** `strict`: a delivery begins only after the one before was acknowledged or failed for good. */
  readonly order: "parallel" | "strict";
  /** Number of blocks that must follow a block before its facts are delivered. */
  readonly confirmations: number;
};

export type Webhook = WebhookFields & {
  /** Grows, and is never used twice. */
  readonly id: number;
  readonly secrets: Secrets;
  /** Why nothing is delivered at present, if so, and since when. */
  readonly suspended?: Suspension;
  /** The running replay, and its progress. */
  readonly replay?: { readonly fromHeight: number; readonly toHeight: number; readonly nextHeight: number };
};

/** A webhook that takes part in matching: enabled and not suspended. */
export type ActiveWebhook = Pick<
  Webhook,
  "id" | "event" | "events" | "conditions" | "match" | "confirmations"
> & {
  /** Sequence of the last event in the log that the webhook does not receive. */
  readonly activeAfter: number;
};

export type Secrets = {
  /** 64 hexadecimal digits; the first 32 of them where a register of the old node was all that was left. */
  readonly token: string;
  /** The one before a rotation, valid until a time. */
  readonly previous?: { readonly token: string; readonly untilMs: number };
};

export type Suspension = { readonly reason: string; readonly sinceMs: number };
