/** Attempts by the minute of their end, as the databases count them. */
import { MINUTE_MS } from "../platform/clock/durations.ts";
import type { AttemptOutcome } from "./delivery-queue.ts";
import type { AttemptCounts } from "./health.ts";

export type CountedOutcome = Pick<AttemptOutcome, "webhook" | "atMs" | "failure">;

export type MinuteCount = AttemptCounts & { readonly webhook: number; readonly minute: number };

export const minuteOf = (atMs: number): number => Math.floor(atMs / MINUTE_MS);

/** Counts outcomes by webhook and minute, in the order of their first outcome. */
export function countByMinute(outcomes: readonly CountedOutcome[]): MinuteCount[] {
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
