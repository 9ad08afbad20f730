/**
 * The share of the consensus thread for submissions: a part of each slot, in short slices, and little while
 * blocks are processed. Work beyond the share waits.
 */
import type { AdmissionTime } from "../../gateway/figures.ts";

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

export class AdmissionBudget {
  readonly #slotMs: () => number;
  readonly #isChainBusy: () => boolean;
  readonly #nowMs: () => number;
  #slotStartMs: number;
  #usedInSlotMs = 0;
  #lastSliceMs = Number.NEGATIVE_INFINITY;
  #usedMs = 0;
  #exhaustedSlots = 0;
  #isExhausted = false;

  constructor({ slotMs, isChainBusy, nowMs = () => performance.now() }: AdmissionBudgetOptions) {
    this.#slotMs = slotMs;
    this.#isChainBusy = isChainBusy;
    this.#nowMs = nowMs;
    this.#slotStartMs = nowMs();
  }

  /** Milliseconds until the next slice may begin; 0 for the next event-loop tick. */
  pauseMs(): number {
    const now = this.#nowMs();
    const durationMs = this.#slotMs();
    if (now - this.#slotStartMs >= durationMs) {
      this.#slotStartMs = now;
      this.#usedInSlotMs = 0;
      this.#isExhausted = false;
    }
    if (this.#usedInSlotMs >= durationMs * SHARE) {
      if (!this.#isExhausted) this.#exhaustedSlots++;
      this.#isExhausted = true;
      return Math.ceil(this.#slotStartMs + durationMs - now);
    }
    return this.#isChainBusy() ? Math.max(0, Math.ceil(this.#lastSliceMs + BUSY_PAUSE_MS - now)) : 0;
  }

  /** Counts a slice. */
  spend(durationMs: number): void {
    this.#usedMs += durationMs;
    this.#usedInSlotMs += durationMs;
    this.#lastSliceMs = this.#nowMs();
  }

  figures(): AdmissionTime {
    return {
      usedMs: this.#usedMs,
      perSlotMs: this.#slotMs() * SHARE,
      exhaustedSlots: this.#exhaustedSlots,
    };
  }
}
