/**
 * Decides which blocks need no undo record when they are committed: blocks that the chain will bury deeper than it can
 * revert (decision 58).
 */
import type { BlockHeader, Slots } from "@uniknode/protocol";

/**
 * Returns true if the block may have to be reverted.
 *
 * @param targetHeight height that the chain will reach, as far as known
 */
export type NeedsUndo = (header: BlockHeader, targetHeight: number) => boolean;

export type UndoRuleDeps = {
  /** Number of blocks below the head that stay revertible. */
  readonly undoDepth: number;
  readonly slots: Slots;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/**
 * A block needs no undo record if more than `undoDepth` blocks will follow it, and if there was time for them: a claim
 * of peers alone must not prevent a revert.
 */
export const createUndoRule =
  ({ undoDepth, slots, now }: UndoRuleDeps): NeedsUndo =>
  ({ height, timestamp }, targetHeight) =>
    height + undoDepth >= targetHeight ||
    slots.slotAt(timestamp) + undoDepth >= slots.slotAt(slots.timeAt(now()));
