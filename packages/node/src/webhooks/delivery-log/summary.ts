/** Summary of a webhook's newest deliveries: states, and outcomes by the hour. */

import { HOUR_MS } from "../../platform/clock/durations.ts";
import type { LatestDeliveries } from "../model/deliveries.ts";

/** Times are milliseconds since 1970. */
export type DeliverySummary = {
  /** Number of counted deliveries, which are the newest; by state below. */
  readonly count: number;
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly pending: number;
  /** Creation time of the oldest counted delivery; absent without deliveries. */
  readonly sinceMs?: number;
  /** Creation time of the oldest pending delivery or retry, counted or not; absent if none is pending. */
  readonly oldestWaitingMs?: number;
  /** Counted deliveries that ended in each of the last hours, from the oldest to the current hour. */
  readonly hours: readonly Hour[];
};

/** Outcomes of one hour; `atMs` is its start. */
export type Hour = { readonly atMs: number; readonly delivered: number; readonly failed: number };

/** Maximum number of counted deliveries, which take about a millisecond to read. */
export const SUMMARIZED_DELIVERIES = 1_000;
export const SUMMARIZED_HOURS = 24;

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
