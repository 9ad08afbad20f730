/** Last step of the pipeline: the announcement of a commit to the listeners of the chain. */
import type { Change } from "@uniknode/ledger";
import type { Block, BlockHeader, SealedTransaction } from "@uniknode/protocol";

/** What one commit did to the chain: blocks that left from the top, or blocks that came. */
export type ChainChange = {
  /** The head after the change. */
  readonly head: BlockHeader;
  /** By ascending height, with the records that each one changed. */
  readonly applied: readonly { readonly block: Block; readonly changes: readonly Change[] }[];
  /** Number of blocks that left. */
  readonly revertedBlocks: number;
  /** Transactions that left with them, oldest first, as many as `maxReturnedTransactions` allows. */
  readonly returned: readonly SealedTransaction[];
};

export type ChainListener = (change: ChainChange) => void;
