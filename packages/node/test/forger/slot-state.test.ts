import { describe, expect, test } from "vitest";
import {
  demanded,
  explained,
  failed,
  foundForeign,
  hindered,
  hindranceOf,
  NOT_STARTED,
  passedSlots,
  reasonPassed,
  resumed,
  settled,
  signed,
  started,
} from "../../src/forger/slot-state.ts";

const state = started(NOT_STARTED, 100);

test("The first slot is the one after the slot of the start.", () => {
  expect(state).toMatchObject({ firstSlot: 101, settledSlot: 100 });
});

test("A demand lasts until a block is signed, also from before the start.", () => {
  const requested = started(demanded(NOT_STARTED), 100);
  expect(requested.isDemanded).toBe(true);
  expect(signed(requested).isDemanded).toBe(false);
});

test("A pause settles the slots that it skipped, and never unsettles one.", () => {
  expect(resumed(state, 110).settledSlot).toBe(109);
  expect(resumed(settled(state, 110), 105).settledSlot).toBe(110);
});

describe("Slots that passed", () => {
  test("Slots that passed are the slots after the last settled one.", () => {
    expect(passedSlots(state, 104, 53)).toEqual([101, 102, 103]);
    expect(passedSlots(settled(state, 102), 104, 53)).toEqual([103]);
    expect(passedSlots(state, 101, 53)).toEqual([]);
  });

  test("Slots that passed are the slots of at most one round.", () => {
    expect(passedSlots(state, 1_000, 3)).toEqual([997, 998, 999]);
  });

  test("Slots that passed exclude one that belongs to another node.", () => {
    expect(passedSlots(foundForeign(state, 102), 104, 53)).toEqual([101, 103]);
  });

  test("Slots that passed never precede the first slot, even after a resume.", () => {
    expect(passedSlots(resumed(NOT_STARTED, 0), 2, 53)).toEqual([1]);
    expect(passedSlots({ ...state, settledSlot: 50 }, 103, 53)).toEqual([101, 102]);
  });

  test("Slots are missed because of the preflight failure, else the error, else the silence of the process.", () => {
    const paused = failed(hindered(state, { slot: 101, reason: "behind" }), "disk full");
    expect([101, 102].map((slot) => reasonPassed(paused, slot))).toEqual(["behind", "disk full"]);
    expect(reasonPassed(explained(paused, 103), 103)).toBe("the node was busy or suspended during the slot");
    expect(explained(paused, 103)).toMatchObject({ settledSlot: 102, hindrance: { slot: 101 } });
    expect(hindranceOf(paused, 102)).toBeUndefined();
  });
});
