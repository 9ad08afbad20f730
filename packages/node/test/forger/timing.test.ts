import { createNetwork, createSlots, livenet } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { canForge, momentAt, msUntilSlot, networkTiming, soloTiming } from "../../src/forger/slot-state.ts";

const timing = networkTiming(8);
const slots = createSlots(createNetwork(livenet));
/** Unix milliseconds at `seconds` into a slot. */
const at = (slot: number, seconds: number) => slots.unixMsOf(slots.slotTime(slot)) + seconds * 1000;

describe("with slots of 8 s a block is sent between the seconds 2 and 6 of its slot", () => {
  const headSlot = 99;
  test.each([
    [0, "wait"],
    [1.999, "wait"],
    [2, "forge"],
    [5.999, "forge"],
    [6, "forge"],
    [6.001, "late"],
    [7.999, "late"],
  ])("The forger at second %d of a slot of 8 s decides: %s.", (seconds, kind) => {
    expect(momentAt(at(100, seconds), headSlot, slots, timing)).toMatchObject({ kind, slot: 100 });
  });
});

test("After a missed slot there is no waiting time.", () => {
  expect(momentAt(at(100, 0), 90, slots, timing).kind).toBe("forge");
});

test("A separate forger is prevented from forging in the head's own slot, however short slots are.", () => {
  const isAllowed = (blocktime: number, seconds: number) =>
    canForge(slots.slotTime(100) + seconds, 100, slots, networkTiming(blocktime));
  expect([3, 7].map((seconds) => isAllowed(4, seconds))).toEqual([false, false]);
  expect(isAllowed(4, 8)).toBe(true);
  expect([7, 9, 10].map((seconds) => isAllowed(8, seconds))).toEqual([false, false, true]);
});

test("The head's own slot is not forged again; the wait ends with it.", () => {
  expect(momentAt(at(100, 3), 100, slots, timing)).toEqual({ kind: "wait", slot: 100, delayMs: 5000 });
});

test("A chain of one node forges from the first to the last millisecond of a slot.", () => {
  expect(momentAt(at(100, 0), 99, slots, soloTiming).kind).toBe("forge");
  expect(momentAt(at(100, 7.999), 99, slots, soloTiming).kind).toBe("forge");
});

test("A slot that has started is 0 ms away.", () => {
  expect(msUntilSlot(100, at(100, 4), slots)).toBe(0);
  expect(msUntilSlot(101, at(100, 4), slots)).toBe(4000);
});
