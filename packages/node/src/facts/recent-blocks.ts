/** Caches the latest blocks until they are final, so that they need not be read and decoded again. */
import type { Change, Round } from "@uniknode/ledger";
import type { Block } from "@uniknode/protocol";

/** Maximum number of blocks in one commit of a syncing node; older blocks are read from the database. */
const MAX_BLOCKS = 16_384;
const MAX_TRANSACTIONS = 16_384;

/** A block, and the round that it opened, if any. */
export type RecentBlock = { readonly block: Block; readonly opened?: Round | undefined };

export type RecentBlocks = {
  /** @param applied blocks with the records that each changed */
  add(applied: readonly { readonly block: Block; readonly changes: readonly Change[] }[]): void;
  /** Removes and returns the block at the height, if it is cached. */
  take(height: number): RecentBlock | undefined;
  /** Must be called after blocks were reverted. */
  clear(): void;
};

export function createRecentBlocks(): RecentBlocks {
  /** Blocks by height, oldest first. */
  const held = new Map<number, RecentBlock>();
  let transactions = 0;

  function take(height: number): RecentBlock | undefined {
    const recent = held.get(height);
    if (!recent) return undefined;
    held.delete(height);
    transactions -= recent.block.transactions.length;
    return recent;
  }

  return {
    add(applied) {
      for (const { block, changes } of applied.slice(-MAX_BLOCKS)) {
        const opened = changes.find(({ table }) => table === "rounds")?.after as Round | undefined;
        held.set(block.header.height, { block, opened });
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
