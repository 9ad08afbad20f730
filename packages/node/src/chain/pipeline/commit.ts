/**
 * Makes executed blocks durable. All effects of a block are in one database transaction, so that state and
 * chain never disagree; several blocks may share a transaction.
 */
import type { Change } from "@uniknode/ledger";
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

/**
 * Commits blocks in order of height: blocks, transactions, changed records, undo records, events.
 *
 * @param undoDepth number of blocks below the head that stay revertible
 * @throws {ChainError} CHAIN_PIN_FAILED
 */
export function commitBlocks(
  stores: ChainStores,
  executed: readonly ExecutedBlock[],
  undoDepth: number,
): void {
  const last = executed.at(-1);
  if (!last) return;
  stores.database.transaction(() => {
    for (const { block, changes, events } of executed) {
      stores.blocks.append(block);
      stores.transactions.append(block);
      stores.undo.append(block.header.height, changes);
      stores.feed?.append(block.header.height, changes);
      stores.events.append(events);
    }
    stores.assumption.extended(executed);
    stores.state.flush();
    stores.undo.prune(last.block.header.height - undoDepth + 1);
    stores.feed?.prune(last.block.header.height);
  });
}
