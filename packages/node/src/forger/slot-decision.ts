/** Decides the action for a slot, from the state of the forger and the time (forger.md 3). */
import type { Slots } from "@uniknode/protocol";
import { hindranceOf, type SlotState } from "./slot-state.ts";
import { momentAt, msUntilSlot, type Timing } from "./timing.ts";

export type SlotView = {
  readonly nowMs: number;
  /** Slot of the head of the chain. */
  readonly headSlot: number;
  readonly slots: Slots;
  readonly timing: Timing;
  /** Returns true if a delegate of this node has the slot, by the order after the head. */
  readonly isOurs: (slot: number) => boolean;
};

export type Decision =
  /** Nothing to do in this slot now. */
  | { readonly kind: "wait"; readonly slot: number; readonly delayMs: number }
  /** The slot belongs to a delegate of another node. */
  | { readonly kind: "foreign"; readonly slot: number; readonly delayMs: number }
  /** The slot passes without a block. */
  | { readonly kind: "miss"; readonly slot: number; readonly reason: string }
  | { readonly kind: "forge"; readonly slot: number };

/**
 * Interval for rechecking a slot: a late block may open a round whose order gives the slot to this node, or a
 * slow clock may be corrected.
 */
const RECHECK_MS = 500;

export function decide(state: SlotState, view: SlotView): Decision {
  const { nowMs, slots, isOurs } = view;
  const moment = currentMoment(state, view);
  const { slot } = moment;
  const untilNextMs = msUntilSlot(slot + 1, nowMs, slots);
  if (!isOurs(slot)) return { kind: "foreign", slot, delayMs: Math.min(untilNextMs, RECHECK_MS) };
  if (slot <= state.settledSlot) return { kind: "wait", slot, delayMs: untilNextMs };
  if (moment.kind === "late") {
    return {
      kind: "miss",
      slot,
      reason: hindranceOf(state, slot)?.reason ?? "too little time was left in the slot",
    };
  }
  if (moment.kind === "wait") return { ...moment, delayMs: Math.min(moment.delayMs, RECHECK_MS) };
  return moment;
}

/** Returns true if the slot can still be forged, after work that may have used up the rest of it. */
export function isStillTime(state: SlotState, slot: number, view: Omit<SlotView, "isOurs">): boolean {
  const moment = currentMoment(state, view);
  return moment.kind === "forge" && moment.slot === slot;
}

/** Returns the first slot after the head that this node may forge, which may be now; undefined if it has none in a round. */
export function nextOwnSlot(
  state: SlotState,
  { nowMs, headSlot, slots, isOurs }: Omit<SlotView, "timing">,
  roundLength: number,
): number | undefined {
  const currentSlot = slots.slotAt(slots.timeAt(nowMs));
  const first = Math.max(currentSlot, state.firstSlot, state.settledSlot + 1, headSlot + 1);
  return Array.from({ length: roundLength }, (_, index) => first + index).find(isOurs);
}

const currentMoment = (
  { firstSlot }: SlotState,
  { nowMs, headSlot, slots, timing }: Omit<SlotView, "isOurs">,
) => momentAt(nowMs, Math.max(headSlot, firstSlot - 1), slots, timing);
