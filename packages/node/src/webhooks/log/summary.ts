/** How the deliveries of a webhook go: of the newest ones, and by the hour. */
import type { LatestDeliveries } from "../deliveries.ts";

/** Times are milliseconds since 1970. */
export type DeliverySummary = {
  /** Deliveries that were counted, the newest ones; by state below. */
  readonly count: number;
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly pending: number;
  /** When the oldest of them was made; absent without any. */
  readonly sinceMs?: number;
  /** When the oldest delivery was made that waits or is retried, among all of them; absent if none does. */
  readonly oldestWaitingMs?: number;
  /** Those of them that ended in each of the last hours, the oldest hour first, the present one last. */
  readonly hours: readonly Hour[];
};

/** `atMs`: its beginning. */
export type Hour = { readonly atMs: number; readonly delivered: number; readonly failed: number };

/** Deliveries that are counted: about a millisecond of reading. */
export const SUMMARIZED_DELIVERIES = 1_000;
export const SUMMARIZED_HOURS = 24;
const HOUR_MS = 3_600_000;

export function summaryOf({ deliveries, oldestWaitingMs }: LatestDeliveries, nowMs: number): DeliverySummary {
  const states = { delivered: 0, failed: 0, cancelled: 0, pending: 0 };
  const firstMs = (Math.floor(nowMs / HOUR_MS) - SUMMARIZED_HOURS + 1) * HOUR_MS;
  const hours = Array.from({ length: SUMMARIZED_HOURS }, (_, index) => ({
    atMs: firstMs + index * HOUR_MS,
    delivered: 0,
    failed: 0,
  }));
  for (const { state, finishedMs } of deliveries) {
    states[state]++;
    const hour = finishedMs === undefined ? undefined : hours[Math.floor((finishedMs - firstMs) / HOUR_MS)];
    if (hour && (state === "delivered" || state === "failed")) hour[state]++;
  }
  const oldest = deliveries.at(-1);
  return {
    count: deliveries.length,
    ...states,
    ...(oldest && { sinceMs: oldest.createdMs }),
    ...(oldestWaitingMs !== undefined && { oldestWaitingMs }),
    hours,
  };
}
