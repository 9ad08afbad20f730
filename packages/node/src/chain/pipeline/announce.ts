/** Announces a commit: moves the head, and notifies the listeners of the chain. */
import type { Change } from "@uniknode/ledger";
import type { Block, BlockHeader, SealedTransaction } from "@uniknode/protocol";

/** Effect of one commit on the chain: blocks that were reverted, or blocks that were applied. */
export type ChainChange = {
  /** The head after the change. */
  readonly head: BlockHeader;
  /** Applied blocks by ascending height, with the records that each of them changed. */
  readonly applied: readonly { readonly block: Block; readonly changes: readonly Change[] }[];
  readonly revertedBlocks: number;
  /** Transactions of the reverted blocks, oldest first, at most `maxReturnedTransactions`. */
  readonly returned: readonly SealedTransaction[];
};

export type ChainListener = (change: ChainChange) => void;

/** The head of a chain, and its listeners. */
export type Announcer = {
  head: BlockHeader;
  readonly notify: (change: ChainChange) => void;
};

/** Moves the head to that of a committed change, and notifies the listeners. */
export function announce(chain: Announcer, change: ChainChange): void {
  chain.head = change.head;
  chain.notify(change);
}
