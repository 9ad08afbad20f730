/**
 * State of the forger's slots: one value, changed only by the functions below; the action for a slot, which follows from it and the
 * time (forger.md 3); and when a slot may be forged (consensus.md 7).
 */
import type { Slots } from "@uniknode/protocol";
import type { SigningRefusalKind } from "../gateway/figures.ts";

export type Hindrance = {
  readonly slot: number;
  readonly reason: string;
  /** Kind by which the slot is counted, if it is. */
  readonly kind?: SigningRefusalKind;
};

export type SlotState = {
  /**
   * First slot that this process may forge: the next one after its start. So even a process without a record of earlier
   * blocks never forges a slot twice, unless the clock was set back.
   */
  readonly firstSlot: number;
  /** Each slot up to this one was forged, or the reason why it was not is recorded. */
  readonly settledSlot: number;
  /** The last slot that was found to belong to a delegate of another node; absent before the first. */
  readonly foreignSlot?: number;
  /** Reason why a slot was not forged in the last attempt. */
  readonly hindrance?: Hindrance;
  /** Failure that paused the forger: slots that pass meanwhile are missed because of it. */
  readonly pauseReason?: string;
  /** True if a block was requested and none has been signed since. */
  readonly isDemanded: boolean;
};

/** State before the start, in which only requested slots are forged. */
export const NOT_STARTED: SlotState = { firstSlot: 0, settledSlot: 0, isDemanded: false };

/**
 * Returns true if the clock was set back to long before the start or a settled slot: this counts as another start. A correction at
 * the border of two slots does not.
 */
export const isSetBack = ({ firstSlot, settledSlot }: SlotState, currentSlot: number): boolean =>
  currentSlot + 1 < Math.max(firstSlot - 1, settledSlot);

/** Starts the forger; an earlier request for a block stays. */
export const started = (state: SlotState, currentSlot: number): SlotState => ({
  ...state,
  firstSlot: currentSlot + 1,
  settledSlot: currentSlot,
});

export const demanded = (state: SlotState): SlotState => ({ ...state, isDemanded: true });

export const signed = (state: SlotState): SlotState => ({ ...state, isDemanded: false });

/** The slot is forged or missed: it is not tried again. */
export const settled = (state: SlotState, slot: number): SlotState => ({ ...state, settledSlot: slot });

/** Slots during a pause were skipped on purpose; the current one may still be forged. */
export const resumed = (state: SlotState, currentSlot: number): SlotState => ({
  ...state,
  settledSlot: Math.max(state.settledSlot, currentSlot - 1),
});

export const foundForeign = (state: SlotState, slot: number): SlotState => ({ ...state, foreignSlot: slot });

export const hindered = (state: SlotState, hindrance: Hindrance): SlotState => ({ ...state, hindrance });

export const failed = (state: SlotState, reason: string): SlotState => ({ ...state, pauseReason: reason });

/** Slots before this one are explained. */
export function explained({ pauseReason: _, ...state }: SlotState, slot: number): SlotState {
  return { ...state, settledSlot: Math.max(state.settledSlot, slot - 1) };
}

/** Returns the reason why the slot could not be forged so far, if it was attempted. */
export const hindranceOf = ({ hindrance }: SlotState, slot: number): Hindrance | undefined =>
  hindrance?.slot === slot ? hindrance : undefined;

/**
 * Slots that passed between two checks of the clock, because the process was asleep or busy; the slots of one round at
 * most. Slots of other nodes are omitted: the order of a new round does not apply to them.
 */
export function passedSlots(state: SlotState, slot: number, roundLength: number): number[] {
  const from = Math.max(state.settledSlot + 1, state.firstSlot, slot - roundLength);
  const passed = Array.from({ length: Math.max(0, slot - from) }, (_, index) => from + index);
  return passed.filter((one) => one !== state.foreignSlot);
}

export const reasonPassed = (state: SlotState, slot: number): string =>
  hindranceOf(state, slot)?.reason ?? state.pauseReason ?? "the node was busy or suspended during the slot";

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

type Moment =
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
