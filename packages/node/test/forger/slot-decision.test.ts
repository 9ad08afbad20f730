import { createNetwork, createSlots, livenet } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  decide,
  hindered,
  isStillTime,
  NOT_STARTED,
  networkTiming,
  nextOwnSlot,
  type SlotView,
  settled,
  soloTiming,
  started,
} from "../../src/forger/slot-state.ts";

const slots = createSlots(createNetwork(livenet));
const slotMs = slots.blocktime * 1000;
const SLOT = 1_000;
const state = started(NOT_STARTED, SLOT - 1);
const timing = networkTiming(slots.blocktime);

const view = (changes: Partial<SlotView> = {}, msOfSlot = 3_000): SlotView => ({
  nowMs: slots.unixMsOf(slots.slotTime(SLOT)) + msOfSlot,
  headSlot: SLOT - 1,
  slots,
  timing,
  isOurs: () => true,
  ...changes,
});

describe("In a slot", () => {
  test("In a slot of a delegate of this node a block is forged.", () => {
    expect(decide(state, view())).toEqual({ kind: "forge", slot: SLOT });
    expect(isStillTime(state, SLOT, view())).toBe(true);
  });

  test("In a slot of another node the order is checked again after half a second, or with the next slot.", () => {
    const isOurs = () => false;
    expect(decide(state, view({ isOurs }))).toEqual({ kind: "foreign", slot: SLOT, delayMs: 500 });
    expect(decide(state, view({ isOurs }, slotMs - 100))).toMatchObject({ delayMs: 100 });
  });

  test("In a slot that is settled the forger waits for the next one.", () => {
    const decision = decide(settled(state, SLOT), view());
    expect(decision).toEqual({ kind: "wait", slot: SLOT, delayMs: slotMs - 3_000 });
  });

  test("In a slot whose head has not settled yet the clock is read again.", () => {
    expect(decide(state, view({}, 500))).toEqual({ kind: "wait", slot: SLOT, delayMs: 200 });
    expect(isStillTime(state, SLOT, view({}, 500))).toBe(false);
  });

  test("With too little time left the slot is missed, with the preflight failure if there is one.", () => {
    const late = view({}, slotMs - 1_000);
    expect(decide(state, late)).toEqual({
      kind: "miss",
      slot: SLOT,
      reason: "too little time was left in the slot",
    });
    expect(decide(hindered(state, { slot: SLOT, reason: "behind" }), late)).toMatchObject({
      reason: "behind",
    });
    expect(isStillTime(state, SLOT, late)).toBe(false);
  });

  test("In a slot before that of the head the clock may be corrected at any moment.", () => {
    expect(decide(state, view({ headSlot: SLOT + 100 }))).toEqual({ kind: "wait", slot: SLOT, delayMs: 500 });
  });

  test("In a slot in which the process started nothing is forged.", () => {
    const fresh = started(NOT_STARTED, SLOT);
    expect(decide(fresh, view({ timing: soloTiming }))).toMatchObject({ kind: "wait" });
    expect(isStillTime(fresh, SLOT, view({ timing: soloTiming }))).toBe(false);
  });
});

describe("The next slot of this node", () => {
  const isOurs = (slot: number) => slot % 3 === 0;

  test("The next slot of this node is the first one of ours in a round, after the head and all settled ones.", () => {
    expect(nextOwnSlot(state, view({ isOurs }), 3)).toBe(1_002);
    expect(nextOwnSlot(settled(state, 1_002), view({ isOurs }), 3)).toBe(1_005);
    expect(nextOwnSlot(state, view({ isOurs, headSlot: 1_009 }), 3)).toBe(1_011);
    expect(nextOwnSlot(started(state, 1_019), view({ isOurs }), 3)).toBe(1_020);
  });

  test("The next slot of this node does not exist if no delegate of the round is ours.", () => {
    expect(nextOwnSlot(state, view({ isOurs: () => false }), 53)).toBeUndefined();
  });
});
