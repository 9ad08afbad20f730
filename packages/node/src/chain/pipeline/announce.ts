/** Last step of a block's way: waking those who follow the chain, after the commit. */
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

export type Announcer = {
  /** Calls the listener after every commit, until the returned function is called. */
  subscribe(listener: ChainListener): () => void;
  announce(change: ChainChange): void;
};

/** `onError` hears what a listener threw: the commit stands all the same, and the other listeners are told. */
export function createAnnouncer(onError: (error: unknown) => void): Announcer {
  const listeners = new Set<ChainListener>();
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    announce(change) {
      for (const listener of [...listeners]) {
        try {
          listener(change);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}
