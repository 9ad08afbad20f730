/** Decides when a slot may be forged (forger.md 3, consensus.md 7). */
import type { Slots } from "@uniknode/protocol";

export type Timing = {
  /** More than this number of seconds must have passed since the slot after the head began; 0: it must have begun. */
  readonly settleSeconds: number;
  /** Minimum time left in the slot for sending its block. */
  readonly minRemainingMs: number;
};

/** Block time of the public networks, and their timing: a block is sent between the seconds 2 and 6 of its slot. */
const NETWORK_BLOCKTIME = 8;
const NETWORK_TIMING: Timing = { settleSeconds: 1, minRemainingMs: 2_000 };

/**
 * Returns the timing of a chain that several nodes forge, by the seconds of its slots. Shorter slots, which only private
 * networks have, leave no whole second to settle.
 */
export const networkTiming = (blocktime: number): Timing =>
  blocktime >= NETWORK_BLOCKTIME ? NETWORK_TIMING : { settleSeconds: 0, minRemainingMs: blocktime * 250 };

/** Timing of a chain whose delegates all belong to this node: no delay. */
export const soloTiming: Timing = { settleSeconds: 0, minRemainingMs: 0 };

export type Moment =
  /** Forge now, in this slot. */
  | { readonly kind: "forge"; readonly slot: number }
  /** Check again later. */
  | { readonly kind: "wait"; readonly slot: number; readonly delayMs: number }
  /** Too little of the slot is left. */
  | { readonly kind: "late"; readonly slot: number };

/** Interval of attempts for a slot while the previous one settles, or the preflight fails. */
export const RETRY_MS = 200;

/** Returns the action for now, given the slot of the head. */
export function momentAt(nowMs: number, headSlot: number, slots: Slots, timing: Timing): Moment {
  const time = slots.timeAt(nowMs);
  const slot = slots.slotAt(time);
  if (slot <= headSlot) return { kind: "wait", slot, delayMs: msUntilSlot(headSlot + 1, nowMs, slots) };
  if (!canForge(time, headSlot, slots, timing)) return { kind: "wait", slot, delayMs: RETRY_MS };
  if (msUntilSlot(slot + 1, nowMs, slots) < timing.minRemainingMs) return { kind: "late", slot };
  return { kind: "forge", slot };
}

/**
 * Returns true if the slot of the head has settled: (slot(head) + 1) x blocktime < t - 1. Without a time to settle,
 * returns true if that slot is over.
 */
export const canForge = (time: number, headSlot: number, slots: Slots, { settleSeconds }: Timing): boolean =>
  settleSeconds === 0
    ? slots.slotTime(headSlot + 1) <= time
    : slots.slotTime(headSlot + 1) < time - settleSeconds;

/** Returns the milliseconds until a slot begins; 0 if it has begun. */
export const msUntilSlot = (slot: number, nowMs: number, slots: Slots): number =>
  Math.max(0, slots.unixMsOf(slots.slotTime(slot)) - nowMs);
