import type { Round } from "@uniknode/ledger";
import { type BlockHeader, createNetwork, createSlots, livenet } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { Gaps, Tally } from "../../src/forger/slot-outcomes.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { SlotStore } from "../../src/store/node/slots.ts";

const slots = createSlots(createNetwork(livenet));
const ORDER = ["ours", "another", "ours too"];
const START_SLOT = 300_000;
const slotMs = (slot: number) => slots.unixMsOf(slots.slotTime(slot));

/** Chain of blocks in the given slots, announced one after another. */
function world({ nowSlot = START_SLOT } = {}) {
  const database = openDatabase(":memory:");
  migrate(database);
  const slotStore = new SlotStore(database);
  const headers = new Map<number, BlockHeader>();
  const tally = new Tally(slotStore);
  let now = START_SLOT;
  const gaps = new Gaps({
    isOurs: (publicKey) => publicKey.startsWith("ours"),
    slots,
    slotStore,
    headerAt: (height) => headers.get(height),
    roundOf: () => ({ order: ORDER }) as unknown as Round,
    onFound: () => tally.gapFound(),
    nowMs: () => slotMs(now),
  });
  now = nowSlot;
  const forge = (height: number, slot: number) => {
    const generatorPublicKey = present(ORDER[slot % ORDER.length], "an item of ORDER");
    const header = { height, timestamp: slots.slotTime(slot), generatorPublicKey } as BlockHeader;
    headers.set(height, header);
    gaps.blockApplied(header);
  };
  const reasons = () => slotStore.missed(100).map(({ slot, reason }) => [slot, reason]);
  return { slotStore, tally, forge, reasons };
}

test("A slot of ours without a block has a reason, one of another delegate has none.", () => {
  const { forge, reasons } = world();
  forge(5, START_SLOT + 1);
  forge(6, START_SLOT + 4);
  expect(reasons()).toEqual([
    [
      START_SLOT + 3,
      "the node's head was a different block, after which the slot belonged to another delegate",
    ],
    [
      START_SLOT + 2,
      "the node's head was a different block, after which the slot belonged to another delegate",
    ],
  ]);
});

test("Slots before the start were missed because the process did not run.", () => {
  const { forge, reasons } = world({ nowSlot: START_SLOT + 9 });
  forge(5, START_SLOT - 5);
  forge(6, START_SLOT - 2);
  expect(reasons()).toEqual([
    [START_SLOT - 3, "the node was not running"],
    [START_SLOT - 4, "the node was not running"],
  ]);
});

test("A block of ours that is on another branch is reported as such.", () => {
  const { slotStore, forge, reasons } = world();
  slotStore.recordForged("ours", START_SLOT + 3, "block");
  forge(5, START_SLOT + 1);
  forge(6, START_SLOT + 4);
  expect(reasons()[0]).toEqual([START_SLOT + 3, "the block of the slot is on another branch"]);
});

test("The reason of the forger is kept, and replaces a derived one.", () => {
  const { slotStore, forge, reasons } = world();
  slotStore.recordMissed("ours too", START_SLOT + 2, "no quorum");
  forge(5, START_SLOT + 1);
  forge(6, START_SLOT + 4);
  slotStore.recordMissed("ours", START_SLOT + 3, "too little time was left in the slot");
  expect(reasons()).toEqual([
    [START_SLOT + 3, "too little time was left in the slot"],
    [START_SLOT + 2, "no quorum"],
  ]);
});

test("Each missed slot counts once, whether the forger or a later block shows it.", () => {
  const { tally, forge } = world();
  tally.recordMissed("ours too", START_SLOT + 2, "no quorum");
  forge(5, START_SLOT + 1);
  forge(6, START_SLOT + 4);
  expect(tally.read().missed).toBe(2);
  tally.recordMissed("ours", START_SLOT + 3, "too little time was left in the slot");
  forge(6, START_SLOT + 4);
  expect(tally.read().missed).toBe(2);
});

test("A slot that has a block after all was not missed.", () => {
  const { forge, reasons } = world();
  forge(5, START_SLOT + 1);
  forge(6, START_SLOT + 4);
  // The other branch has both.
  forge(6, START_SLOT + 2);
  forge(7, START_SLOT + 3);
  expect(reasons()).toEqual([]);
});

test("The examination covers at most a recent round.", () => {
  const { forge, reasons } = world();
  forge(5, START_SLOT - 30_000);
  forge(6, START_SLOT - 29_990);
  expect(reasons()).toEqual([]);
  forge(9, START_SLOT - 50);
  forge(10, START_SLOT);
  expect(reasons().map(([slot]) => slot)).toEqual([START_SLOT - 48, START_SLOT - 49]);
});
