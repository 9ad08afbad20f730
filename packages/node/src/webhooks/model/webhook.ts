/** A webhook as a plain value. Times are milliseconds since 1970. */
import { invalid } from "../../subscriptions/fields.ts";

/** The user-defined fields of a webhook; `conditions` is JSON text, as given: an empty list is always true. */
export type WebhookFields = {
  /** Display name; absent or null if there is none. */
  readonly name?: string | null;
  /** Name of an event; null if only `events` is given. */
  readonly event: string | null;
  /** Further names, and patterns. */
  readonly events: readonly string[];
  readonly target: string;
  readonly enabled: boolean;
  readonly conditions: string;
  /** Conditions that must hold: at least one, or all. */
  readonly match: "any" | "all";
  /** `strict`: a delivery starts only after the previous one was acknowledged or finally failed. */
  readonly order: "parallel" | "strict";
  /** Number of blocks that must follow a block before its facts are delivered. */
  readonly confirmations: number;
  /** True if deliveries contain a proof of their fact (webhooks.md 7.5). */
  readonly proof: boolean;
};

/**
 * Returns all names and patterns of a webhook.
 *
 * @throws {SubscriptionError} if it has none
 */
export function checkEvents({ event, events }: Pick<WebhookFields, "event" | "events">): readonly string[] {
  if (event !== null) return [event, ...events];
  if (events.length === 0) throw invalid('"event" or "events" is required', "MISSING_MEMBER");
  return events;
}

export type Webhook = WebhookFields & {
  /** Increasing id that is never reused. */
  readonly id: number;
  readonly secrets: Secrets;
  /** Reason and start of the current suspension, if any. */
  readonly suspended?: Suspension;
  readonly replay?: { readonly fromHeight: number; readonly toHeight: number; readonly nextHeight: number };
};

/** An active webhook: enabled and not suspended. */
export type ActiveWebhook = Pick<
  Webhook,
  "id" | "event" | "events" | "conditions" | "match" | "confirmations"
> & {
  /** Sequence of the last logged event that the webhook does not receive. */
  readonly activeAfter: number;
};

export type Secrets = {
  /** 64 hexadecimal digits; only the first 32 if the webhook was imported from a register of the old node. */
  readonly token: string;
  /** The token before a rotation, valid until a time. */
  readonly previous?: { readonly token: string; readonly untilMs: number };
};

export type Suspension = { readonly reason: string; readonly sinceMs: number };

/**
 * Returns the epoch of the next sender (webhooks.md 10, point 16): each owner of a webhook has a higher one than all before, also an
 * owner that continues with an older copy of the data, which does not know the later epochs.
 *
 * @param last epoch of the last owner that the data know; 0 before the first
 */
export const nextEpoch = (last: number, nowMs: number): number => Math.max(last + 1, nowMs);
