/** The last blocks that came, until they are final: what is held here needs not be read and decoded again. */
import type { Block } from "@uniknode/protocol";

/** What one commit of a node that catches up may have; older ones are read from the database. */
const MAX_BLOCKS = 16_384;
const MAX_TRANSACTIONS = 16_384;

export type RecentBlocks = {
  add(blocks: readonly Block[]): void;
  /** Returns the block at the height, if it is held, and holds it no more. */
  take(height: number): Block | undefined;
  /** To be called after blocks left the chain. */
  clear(): void;
};

export function createRecentBlocks(): RecentBlocks {
  /** By height, the oldest first. */
  const held = new Map<number, Block>();
  let transactions = 0;

  function take(height: number): Block | undefined {
    const block = held.get(height);
    if (!block) return undefined;
    held.delete(height);
    transactions -= block.transactions.length;
    return block;
  }

  return {
    add(blocks) {
      for (const block of blocks.slice(-MAX_BLOCKS)) {
        held.set(block.header.height, block);
        transactions += block.transactions.length;
      }
      for (const height of held.keys()) {
        if (held.size <= MAX_BLOCKS && transactions <= MAX_TRANSACTIONS) return;
        take(height);
      }
    },
    take,
    clear() {
      held.clear();
      transactions = 0;
    },
  };
}
