/** Going back: undo records from the head down, in one database transaction. */
import type { Wallet } from "@uniknode/ledger";
import type { Block } from "@uniknode/protocol";
import type { Event } from "../../events/event.ts";
import type { Write } from "../../store/state/state.ts";
import { ChainError } from "../error.ts";
import type { ChainStores } from "../stores.ts";
import type { ChainChange } from "./announce.ts";

export type RevertOptions = {
  /** The height that becomes the head. */
  readonly target: number;
  /** Bound on the transactions handed back: what a pool can hold. The newest are missing where they are too many. */
  readonly maxReturned: number;
  /** `wallets` are those that the block had changed, as they are after it was reverted, by ascending address. */
  readonly eventsOfRevert: (block: Block, wallets: readonly Wallet[]) => Event[];
};

/** Names of the events that `eventsOfRevert` makes. */
const REVERT_EVENTS = ["transaction.reverted", "block.reverted", "wallet.saved"];

/**
 * Reverts every block above the target. Readers of the database see all of it or nothing.
 *
 * @throws {ChainError} CHAIN_UNDO_MISSING when the target is deeper than undo is kept
 */
export function revertBlocks(stores: ChainStores, options: RevertOptions): ChainChange {
  const { database, blocks, transactions, state, undo, events } = stores;
  const { target, maxReturned, eventsOfRevert } = options;
  const head = blocks.head()!.height;
  const isRecorded = isRevertRecorded(events);
  return database.transaction(() => {
    for (let height = head; height > target; height--) {
      const writes = undo.read(height);
      if (!writes) {
        throw new ChainError("CHAIN_UNDO_MISSING", `block ${height} can no longer be reverted`);
      }
      state.write(writes);
      if (isRecorded) events.append(eventsOfRevert(blocks.block(height)!, walletsOf(writes)));
    }
    state.flush();
    const returned = transactions.sealedFrom(target + 1, maxReturned);
    transactions.removeFrom(target + 1);
    blocks.removeFrom(target + 1);
    undo.removeFrom(target + 1);
    return { head: blocks.header(target)!, applied: [], revertedBlocks: head - target, returned };
  });
}

/** Whether events of reverted blocks are subscribed to. */
export const isRevertRecorded = (events: ChainStores["events"]): boolean =>
  REVERT_EVENTS.some((name) => events.isRecorded(name));

const walletsOf = (writes: readonly Write[]): Wallet[] =>
  writes
    .flatMap((write) => (write.table === "wallets" && write.after ? [write.after] : []))
    .sort((a, b) => (a.address < b.address ? -1 : 1));
