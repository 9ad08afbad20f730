/** Removing blocks from the top of the chain of which the signatures were not checked (decision 39). */
import type { Block, Network } from "@uniknode/protocol";
import { storeGenesis } from "./genesis.ts";
import type { ChainChange } from "./pipeline/announce.ts";
import { isRevertRecorded, type RevertOptions, revertBlocks } from "./pipeline/revert.ts";
import type { ChainStores } from "./stores.ts";

export type DiscardOptions = Omit<RevertOptions, "maxReturned"> & {
  readonly network: Network;
  readonly genesis: Block;
};

/**
 * Reverts every block above the target; where undo is not kept that far, every block above the genesis block. Nothing that is
 * not of the chain changes. None of the transactions is handed back: their signatures may be wrong.
 */
export function discardBlocks(stores: ChainStores, options: DiscardOptions): ChainChange {
  const { target, eventsOfRevert } = options;
  return stores.database.transaction(() =>
    stores.undo.read(target + 1)
      ? revertBlocks(stores, { target, eventsOfRevert, maxReturned: 0 })
      : returnToGenesis(stores, options),
  );
}

function returnToGenesis(
  stores: ChainStores,
  { network, genesis, eventsOfRevert }: DiscardOptions,
): ChainChange {
  const { blocks, transactions, state, undo, events } = stores;
  const { height } = blocks.head()!;
  if (isRevertRecorded(events)) {
    for (let top = height; top > 1; top--) events.append(eventsOfRevert(blocks.block(top)!, []));
  }
  transactions.removeFrom(1);
  blocks.removeFrom(1);
  undo.removeFrom(1);
  state.clear();
  const head = storeGenesis(stores, network, genesis);
  return { head, applied: [], revertedBlocks: height - 1, returned: [] };
}
