/** Notices that the head is in the future of the clock: blocks were forged with a clock that was ahead, or this clock was set back. */
import type { Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import { SECOND_MS } from "../platform/clock/durations.ts";

type Head = { readonly height: number; readonly id: string; readonly timestamp: number };

type WatchDeps = {
  readonly head: () => Head;
  readonly slots: Slots;
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, "info" | "warn">;
};

const WATCH_EVERY_MS = 1_000;

/** Logs once for each head that it is in the future, whether or not this node forges, and when no head is any longer. */
export function watchFutureHead({ head, slots, nowMs, logger }: WatchDeps): { close(): void } {
  let reported: string | undefined;

  function check(): void {
    const { height, id, timestamp } = head();
    const text = futureHeadText({ height, timestamp }, nowMs(), slots);
    if (text !== undefined && reported !== id) logger.warn({ height, id }, text);
    if (text === undefined && reported !== undefined)
      logger.info({ height, id }, "the head is no longer in the future");
    reported = text === undefined ? undefined : id;
  }
  const timer = setInterval(check, WATCH_EVERY_MS).unref();
  return { close: () => clearInterval(timer) };
}

/**
 * Returns a text if the head's slot begins after the current one: a clock that was ahead forged it. Until its slot has passed, no
 * block can follow it.
 */
export function futureHeadText(
  { height, timestamp }: { readonly height: number; readonly timestamp: number },
  nowMs: number,
  slots: Slots,
): string | undefined {
  const headSlot = slots.slotAt(timestamp);
  if (headSlot <= slots.slotAt(slots.timeAt(nowMs))) return undefined;
  const aheadSeconds = Math.ceil((slots.unixMsOf(timestamp) - nowMs) / SECOND_MS);
  const resumesAt = new Date(slots.unixMsOf(slots.slotTime(headSlot + 1))).toISOString();
  return `the head is in the future: block ${height} is ${aheadSeconds} s ahead of the clock of this node; forging resumes at ${resumesAt}, or when this clock is set right if it is behind`;
}
