/** Removes the blocks whose signatures were not checked from the top of the chain (decision 39). */

import type { Block, Network } from "@uniknode/protocol";
import { present } from "../platform/present.ts";
import { storeGenesis } from "./genesis.ts";
import type { ChainChange } from "./pipeline/announce.ts";
import { isRevertRecorded, type RevertOptions, revertBlocks } from "./pipeline/revert.ts";
import type { ChainStores } from "./stores.ts";

export type DiscardOptions = Omit<RevertOptions, "target" | "maxReturned"> & {
  readonly network: Network;
  readonly genesis: Block;
};

/**
 * Reverts the unchecked blocks. If the undo records do not reach that far, it reverts every block above the
 * genesis block. Tables outside the chain do not change. The transactions are not returned to the pool,
 * because their signatures may be wrong. The pin counts as failed afterwards.
 */
export function discardUnchecked(stores: ChainStores, options: DiscardOptions): ChainChange {
  const { database, assumption, blocks, undo } = stores;
  const { eventsOfRevert } = options;
  return database.transaction(() => {
    const head = present(blocks.head(), "the head of the chain");
    const from = assumption.uncheckedFrom();
    assumption.failed();
    if (from === undefined) return { head, applied: [], revertedBlocks: 0, returned: [] };
    if (!undo.has(from)) return returnToGenesis(stores, options);
    return revertBlocks(stores, { target: from - 1, eventsOfRevert, maxReturned: 0 });
  });
}

function returnToGenesis(
  stores: ChainStores,
  { network, genesis, eventsOfRevert }: DiscardOptions,
): ChainChange {
  const { blocks, transactions, state, undo, feed, history, events } = stores;
  const { height } = present(blocks.head(), "the head of the chain");
  if (isRevertRecorded(events)) {
    for (let top = height; top > 1; top--) {
      events.append(eventsOfRevert(present(blocks.block(top), `block ${top}`), []));
    }
  }
  transactions.removeFrom(1);
  blocks.removeFrom(1);
  undo.removeFrom(1);
  feed?.revertTo(0);
  history?.clear();
  state.clear();
  const head = storeGenesis(stores, network, genesis);
  return { head, applied: [], revertedBlocks: height - 1, returned: [] };
}
