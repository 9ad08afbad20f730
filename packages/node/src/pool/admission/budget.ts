/**
 * The share of the consensus thread for submissions: a part of each slot, in short slices, and little while
 * blocks are processed. Work beyond the share waits.
 */
import type { AdmissionTime } from "../../gateway/figures.ts";

export type AdmissionBudget = {
  /** Milliseconds until the next slice may begin; 0 for the next event-loop tick. */
  pauseMs(): number;
  /** Counts a slice. */
  spend(durationMs: number): void;
  figures(): AdmissionTime;
};

export type AdmissionBudgetOptions = {
  /** Duration of a slot. */
  readonly slotMs: () => number;
  /** Returns true while blocks are being processed. */
  readonly isChainBusy: () => boolean;
  /** Monotonic clock: a dev chain may move or stop the other one. */
  readonly nowMs?: () => number;
};

/** Part of each slot. */
const SHARE = 0.6;
/** Pause between two slices while blocks are processed. */
const BUSY_PAUSE_MS = 100;
/** A slice ends with the transaction that exceeds it. */
export const SLICE_MS = 10;

export function createAdmissionBudget({
  slotMs,
  isChainBusy,
  nowMs = () => performance.now(),
}: AdmissionBudgetOptions): AdmissionBudget {
  let slotStartMs = nowMs();
  let usedInSlotMs = 0;
  let lastSliceMs = Number.NEGATIVE_INFINITY;
  let usedMs = 0;
  let exhaustedSlots = 0;
  let isExhausted = false;

  function beginSlot(now: number): void {
    slotStartMs = now;
    usedInSlotMs = 0;
    isExhausted = false;
  }

  return {
    pauseMs() {
      const now = nowMs();
      const durationMs = slotMs();
      if (now - slotStartMs >= durationMs) beginSlot(now);
      if (usedInSlotMs >= durationMs * SHARE) {
        if (!isExhausted) exhaustedSlots++;
        isExhausted = true;
        return Math.ceil(slotStartMs + durationMs - now);
      }
      return isChainBusy() ? Math.max(0, Math.ceil(lastSliceMs + BUSY_PAUSE_MS - now)) : 0;
    },
    spend(durationMs) {
      usedMs += durationMs;
      usedInSlotMs += durationMs;
      lastSliceMs = nowMs();
    },
    figures: () => ({ usedMs, perSlotMs: slotMs() * SHARE, exhaustedSlots }),
  };
}
