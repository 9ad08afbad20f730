/**
 * Makes executed blocks durable. All effects of a block are in one database transaction, so that state and
 * chain never disagree; several blocks may share a transaction.
 */
import type { Change } from "@uniknode/ledger";
import type { BlockHeader, Slots } from "@uniknode/protocol";
import type { Event } from "../../events/event.ts";
import type { ChainStores } from "../stores.ts";
import type { ReceivedBlock } from "./receive.ts";

/** A block that was applied to the state, with its traces. */
export type ExecutedBlock = {
  readonly block: ReceivedBlock;
  /** The signatures of the block were assumed to be valid. */
  readonly isAssumed: boolean;
  readonly changes: readonly Change[];
  /** Events for the event log. */
  readonly events: readonly Event[];
};

export type CommitOptions = {
  /** Number of blocks below the head that stay revertible. */
  readonly undoDepth: number;
  /** Returns false for a block that gets no undo record. If absent, each block gets one. */
  readonly needsUndo?: (header: BlockHeader) => boolean;
};

/**
 * Commits blocks in order of height: blocks, transactions, changed records, undo records, history, events. Undo records
 * are always those of the last blocks, without a gap: older ones could not be used.
 *
 * @throws {ChainError} CHAIN_PIN_FAILED
 */
export function commitBlocks(
  stores: ChainStores,
  executed: readonly ExecutedBlock[],
  { undoDepth, needsUndo = () => true }: CommitOptions,
): void {
  const last = executed.at(-1);
  if (!last) return;
  let lowestUndo = last.block.header.height - undoDepth + 1;
  stores.database.transaction(() => {
    for (const { block, changes, events } of executed) {
      const { header } = block;
      stores.blocks.append(block);
      stores.transactions.append(block);
      if (needsUndo(header)) stores.undo.append(header.height, changes);
      else lowestUndo = Math.max(lowestUndo, header.height + 1);
      stores.feed?.append(header.height, changes);
      stores.history?.append(header.height, changes);
      stores.events.append(events);
    }
    stores.assumption.extended(executed);
    stores.state.flush();
    stores.undo.prune(lowestUndo);
    stores.feed?.prune(last.block.header.height);
  });
}

/**
 * Returns true if the block may have to be reverted.
 *
 * @param targetHeight height that the chain will reach, as far as known
 */
export type NeedsUndo = (header: BlockHeader, targetHeight: number) => boolean;

/**
 * A block needs no undo record if more than `undoDepth` blocks will follow it, and if there was time for them: a claim
 * of peers alone must not prevent a revert (decision 58).
 *
 * @param deps `now` returns milliseconds since 1970
 */
export const createUndoRule =
  ({
    undoDepth,
    slots,
    now,
  }: Pick<CommitOptions, "undoDepth"> & { readonly slots: Slots; readonly now: () => number }): NeedsUndo =>
  ({ height, timestamp }, targetHeight) =>
    height + undoDepth >= targetHeight ||
    slots.slotAt(timestamp) + undoDepth >= slots.slotAt(slots.timeAt(now()));
