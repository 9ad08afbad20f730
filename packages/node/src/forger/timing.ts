/** When a slot may be forged (forger.md section 3, consensus.md section 7). */
import type { Slots } from "@uniknode/protocol";

export type Timing = {
  /** Seconds that must have passed, beyond one, since the slot after the head's began. */
  readonly settleSeconds: number;
  /** A block that has less of its slot left than this is not sent. */
  readonly minRemainingMs: number;
};

/** The network's own timing: with slots of 8 s a block leaves between the seconds 2 and 6 of its slot. */
export const networkTiming: Timing = { settleSeconds: 1, minRemainingMs: 2_000 };

/** For a chain whose delegates all live in this node: at once. */
export const soloTiming: Timing = { settleSeconds: 0, minRemainingMs: 0 };

export type Moment =
  /** Forge now, in this slot. */
  | { readonly kind: "forge"; readonly slot: number }
  /** Ask again later. */
  | { readonly kind: "wait"; readonly slot: number; readonly delayMs: number }
  /** Too little of the slot is left. */
  | { readonly kind: "late"; readonly slot: number };

/** How often a slot is asked for again while the previous one settles. */
const RETRY_MS = 200;

/** What to do now, given the slot of the head. */
export function momentAt(nowMs: number, headSlot: number, slots: Slots, timing: Timing): Moment {
  const time = slots.timeAt(nowMs);
  const slot = slots.slotAt(time);
  if (slot <= headSlot) return { kind: "wait", slot, delayMs: msUntilSlot(headSlot + 1, nowMs, slots) };
  // canForge: (slot(head) + 1) x blocktime < t - 1, where settling counts at all
  const settled = timing.settleSeconds === 0 || slots.slotTime(headSlot + 1) < time - timing.settleSeconds;
  if (!settled) return { kind: "wait", slot, delayMs: RETRY_MS };
  if (msUntilSlot(slot + 1, nowMs, slots) < timing.minRemainingMs) return { kind: "late", slot };
  return { kind: "forge", slot };
}

/** Milliseconds until a slot begins; 0 when it has begun. */
export const msUntilSlot = (slot: number, nowMs: number, slots: Slots): number =>
  Math.max(0, slots.unixMsOf(slots.slotTime(slot)) - nowMs);
