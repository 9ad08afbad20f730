import { forgingOrder, present } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { roundOf } from "../../src/components/round/round.ts";
import { block, blocks as chainOf } from "../../test-support/chain.ts";

const SIZE = 6;
const ranked = Array.from({ length: SIZE }, (_, index) => `key ${index}`);

/** Forged in a slot of two seconds by the delegate of the slot. */
const forged = (round: number, height: number, slot: number) =>
  block(height, { epoch: slot * 2, publicKey: present(forgingOrder(round, ranked)[slot % SIZE]) });

const input = { ranked, size: SIZE, blocktime: 2 };

const shownRound = (...given: Parameters<typeof roundOf>) => present(roundOf(...given));

test("Slots are forged, missed, now and next, each with its delegate.", () => {
  const order = forgingOrder(3, ranked);
  const blocks = [forged(3, 14, 103), forged(3, 13, 100), block(12, { epoch: 198 })];
  const { round, firstHeight, slots, isOrderKnown } = shownRound({ ...input, blocks, nowEpoch: 209 });
  expect({ round, firstHeight, isOrderKnown }).toEqual({ round: 3, firstHeight: 13, isOrderKnown: true });
  expect(slots.map(({ slot, state }) => `${slot} ${state}`)).toEqual([
    "100 forged",
    "101 missed",
    "102 missed",
    "103 forged",
    "104 now",
    "105 next",
    "106 next",
    "107 next",
  ]);
  expect(slots.map(({ delegate }) => delegate)).toEqual(slots.map(({ slot }) => order[slot % SIZE]));
});

test("After the last block of a round, the next one is shown.", () => {
  const { round, slots } = shownRound({ ...input, blocks: [block(12, { epoch: 200 })], nowEpoch: 201 });
  expect(round).toBe(3);
  expect(slots.map(({ state }) => state)).toEqual(Array(SIZE).fill("next"));
  expect(slots[0]?.slot).toBe(101);
});

test("An order that the blocks contradict is not shown.", () => {
  const { isOrderKnown, slots } = shownRound({
    ...input,
    blocks: [block(13, { publicKey: "another" })],
    nowEpoch: 30,
  });
  expect(isOrderKnown).toBe(false);
  expect(
    slots.filter(({ state }) => state !== "forged").every(({ delegate }) => delegate === undefined),
  ).toBe(true);
});

test("The delegates do not forge the genesis block, which contradicts no order.", () => {
  const blocks = [forged(1, 2, 50), block(1, { epoch: 0, publicKey: "genesis" })];
  expect(shownRound({ ...input, blocks, nowEpoch: 101 }).isOrderKnown).toBe(true);
});

test("A chain that stopped for years has missed at most a round of slots.", () => {
  const { slots } = shownRound({ ...input, blocks: [forged(3, 13, 100)], nowEpoch: 1e8 });
  expect(slots.filter(({ state }) => state === "missed")).toHaveLength(SIZE);
});

test("Without a block there is no round.", () => {
  expect(roundOf({ ...input, blocks: [], nowEpoch: 0 })).toBeUndefined();
});

test("A slot that ended after the blocks were read is open, not missed.", () => {
  const input = { blocks: chainOf(5, 1), ranked: [], size: 3, blocktime: 2 };
  const states = (nowEpoch: number, readEpoch?: number) =>
    shownRound({ ...input, nowEpoch, ...(readEpoch !== undefined && { readEpoch }) }).slots.map(
      ({ state }) => state,
    );
  // The head has the slot 5; slots 6 to 8 have no block.
  expect(states(18)).toEqual(["forged", "forged", "missed", "missed", "missed", "now"]);
  expect(states(18, 14)).toEqual(["forged", "forged", "missed", "open", "open", "now"]);
  expect(states(18, 10)).toEqual(["forged", "forged", "open", "open", "open", "now"]);
});
