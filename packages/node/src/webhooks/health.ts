/** Current health of the targets of webhooks (webhooks.md 10 point 13). Times are milliseconds since 1970. */

import { MINUTE_MS } from "../platform/clock/durations.ts";
import type { AttemptOutcome } from "./delivery-queue.ts";
import type { Webhook } from "./model/webhook.ts";

export type WebhookHealth = {
  /** Number of pending deliveries. */
  readonly queued: number;
  /** Attempts that ended within the last hour. */
  readonly lastHour: AttemptCounts;
  /** Present if recent attempts fail and the webhook is on. */
  readonly failing?: Failing;
};

export type AttemptCounts = { readonly succeeded: number; readonly failed: number };

/** `reason`: reason of the last known failure; `sinceMs`: time of the first of the consecutive failures. */
export type Failing = { readonly reason?: string; readonly sinceMs?: number };

/** A webhook is failing if its last attempt failed, or if more attempts failed than succeeded in this period. */
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

/** Number of webhooks in each state, and of all pending deliveries. */
export type HealthTotals = Readonly<Record<WebhookState, number>> & { readonly queued: number };

export type HealthRows = {
  of(webhook: Pick<Webhook, "id" | "enabled" | "suspended">, nowMs: number): Promise<WebhookHealth>;
  totals(nowMs: number): Promise<HealthTotals>;
};

/** Outcome of an attempt, which the databases count by the minute of its end. */
export type CountedOutcome = Pick<AttemptOutcome, "webhook" | "atMs" | "failure">;

export const minuteOf = (atMs: number): number => Math.floor(atMs / MINUTE_MS);

/** Counts outcomes by webhook and minute, in the order of their first outcome. */
export function countByMinute(
  outcomes: readonly CountedOutcome[],
): (AttemptCounts & { readonly webhook: number; readonly minute: number })[] {
  const counts = new Map<string, { webhook: number; minute: number; succeeded: number; failed: number }>();
  for (const { webhook, atMs, failure } of outcomes) {
    const minute = minuteOf(atMs);
    const count = counts.get(`${webhook} ${minute}`) ?? { webhook, minute, succeeded: 0, failed: 0 };
    counts.set(`${webhook} ${minute}`, count);
    if (failure) count.failed++;
    else count.succeeded++;
  }
  return [...counts.values()];
}
