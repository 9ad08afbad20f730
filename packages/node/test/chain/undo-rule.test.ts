import { createSlots } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { createUndoRule } from "../../src/chain/pipeline/commit.ts";
import { network } from "../../test-support/peers/chains.ts";

const slots = createSlots(network);
const DEPTH = 10;
const SLOT = 1_000;
/** The time is the beginning of the slot. */
const needsUndo = createUndoRule({
  undoDepth: DEPTH,
  slots,
  now: () => slots.unixMsOf(slots.slotTime(SLOT)),
});
const block = (height: number, slot: number) => ({ height, timestamp: slots.slotTime(slot) }) as never;

test("A block needs an undo record unless more than the depth of blocks will follow it, and had time to.", () => {
  expect(needsUndo(block(89, SLOT - DEPTH - 1), 100)).toBe(false);
  expect(needsUndo(block(90, SLOT - DEPTH - 1), 100)).toBe(true);
  expect(needsUndo(block(89, SLOT - DEPTH), 100)).toBe(true);
});

test("A claim about the height does not prevent the undo records of recent blocks, and an unknown height of none.", () => {
  expect(needsUndo(block(89, SLOT - DEPTH), 2 ** 32)).toBe(true);
  expect(needsUndo(block(89, SLOT + 5), 2 ** 32)).toBe(true);
  expect(needsUndo(block(2, 1), 0)).toBe(true);
});
