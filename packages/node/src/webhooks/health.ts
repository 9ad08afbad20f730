/** How the targets of webhooks do at present (webhooks.md 10 point 13). Times are milliseconds since 1970. */
import type { Webhook } from "./webhook.ts";

export type WebhookHealth = {
  /** Deliveries that wait. */
  readonly queued: number;
  /** Attempts that ended within the last hour. */
  readonly lastHour: AttemptCounts;
  /** Present if recent attempts fail and the webhook is on. */
  readonly failing?: Failing;
};

export type AttemptCounts = { readonly succeeded: number; readonly failed: number };

/** `reason` of the last failure that is known; `sinceMs`: the first of the failures in a row. */
export type Failing = { readonly reason?: string; readonly sinceMs?: number };

/** A webhook is failing as long as its last attempt failed, or more attempts failed than succeeded in so many minutes. */
export const RECENT_MINUTES = 5;
export const HOUR_MINUTES = 60;

export type WebhookState = "active" | "failing" | "paused" | "suspended";

export const stateOf = (
  { enabled, suspended }: Pick<Webhook, "enabled" | "suspended">,
  { failing }: Pick<WebhookHealth, "failing">,
): WebhookState => {
  if (!enabled) return "paused";
  if (suspended) return "suspended";
  return failing ? "failing" : "active";
};

/** Number of webhooks in each state, and of all deliveries that wait. */
export type HealthTotals = Readonly<Record<WebhookState, number>> & { readonly queued: number };

export type HealthRows = {
  of(webhook: Pick<Webhook, "id" | "enabled" | "suspended">, nowMs: number): WebhookHealth;
  totals(nowMs: number): HealthTotals;
};
