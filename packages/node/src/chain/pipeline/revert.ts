/** Reverts blocks: applies undo records from the head down, in one database transaction. */

import type { Wallet } from "@uniknode/ledger";
import type { Block } from "@uniknode/protocol";
import type { Event } from "../../events/event.ts";
import { present } from "../../platform/present.ts";
import { withHoldings } from "../../store/state/holdings.ts";
import type { Write } from "../../store/state/state.ts";
import { ChainError } from "../error.ts";
import type { ChainStores } from "../stores.ts";
import type { ChainChange } from "./announce.ts";

export type RevertOptions = {
  /** Height of the new head. */
  readonly target: number;
  /** Maximum number of transactions to return: the capacity of a pool. If there are more, the newest are omitted. */
  readonly maxReturned: number;
  /** `wallets` are the wallets that the block had changed, as they are after the revert, by ascending address. */
  readonly eventsOfRevert: (block: Block, wallets: readonly Wallet[]) => Event[];
};

/** Names of the events that `eventsOfRevert` creates. */
const REVERT_EVENTS = ["transaction.reverted", "block.reverted", "wallet.saved"];

/**
 * Reverts every block above the target. Readers of the database see the whole revert or nothing.
 *
 * @throws {ChainError} CHAIN_UNDO_MISSING when the undo records do not reach the target
 */
export function revertBlocks(stores: ChainStores, options: RevertOptions): ChainChange {
  const { database, blocks, transactions, state, undo, feed, history, events } = stores;
  const { target, maxReturned, eventsOfRevert } = options;
  const head = present(blocks.head(), "the head of the chain").height;
  const isRecorded = isRevertRecorded(events);
  return database.transaction(() => {
    for (let height = head; height > target; height--) {
      const writes = undo.read(height);
      if (!writes) {
        throw new ChainError("CHAIN_UNDO_MISSING", `block ${height} can no longer be reverted`);
      }
      state.write(writes);
      history?.remove(height, writes);
      if (isRecorded) {
        const block = present(blocks.block(height), `block ${height}`);
        const wallets = walletsOf(writes).map((wallet) => withHoldings(state, wallet));
        events.append(eventsOfRevert(block, wallets));
      }
    }
    state.flush();
    const returned = transactions.sealedFrom(target + 1, maxReturned);
    transactions.removeFrom(target + 1);
    blocks.removeFrom(target + 1);
    undo.removeFrom(target + 1);
    feed?.revertTo(target);
    history?.revertTo(target);
    const newHead = present(blocks.header(target), `block ${target}`);
    return { head: newHead, applied: [], revertedBlocks: head - target, returned };
  });
}

/** Returns true if events of reverted blocks have subscribers. */
export const isRevertRecorded = (events: ChainStores["events"]): boolean =>
  REVERT_EVENTS.some((name) => events.isRecorded(name));

const walletsOf = (writes: readonly Write[]): Wallet[] =>
  writes
    .flatMap((write) => (write.table === "wallets" && write.after ? [write.after] : []))
    .sort((a, b) => (a.address < b.address ? -1 : 1));
