/**
 * Grows the tree of facts up to the last final block, in steps. Every step begins with what is in the database, so that the work
 * goes on after the end of the process at any instruction.
 */
import type { Block, BlockHeader, Network } from "@uniknode/protocol";
import { createPastFacts, type KnownOfBlock } from "../event-log/past-facts.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { createMetaStore } from "../store/node/meta.ts";
import { readUnchecked } from "../store/node/unchecked.ts";
import { finalHeight } from "./final.ts";
import { leafText, leavesOf } from "./leaf.ts";
import { hashLeaves } from "./merkle/hashes.ts";
import { createRecentBlocks, type RecentBlocks } from "./recent-blocks.ts";
import { createFactTree, type Mark } from "./tree/store.ts";

export type GrowthDeps = {
  readonly database: Database;
  readonly network: Network;
  /** Called when facts were taken out of the tree, because their blocks have left the chain; absent: nothing is left. */
  readonly onTruncated: (from: Mark, to: Mark | undefined) => void;
};

export type GrowthFigures = {
  /** Leaves of the tree, and the height of its last block; 0 in an empty one. */
  readonly size: number;
  readonly height: number;
  /** Final blocks that are not in the tree yet. */
  readonly lag: number;
};

export type Growth = {
  /** Blocks that have just been added to the chain, with what they changed. */
  readonly applied: RecentBlocks["add"];
  /** To be called after blocks left the chain. */
  reverted(): void;
  /**
   * Adds some of the missing blocks, in a transaction of its own.
   *
   * @param untilMs by `performance.now`; no further block is begun after that, but one is always added
   * @returns whether more are missing
   */
  step(untilMs: number): boolean;
  figures(): GrowthFigures;
};

/** Bounds what one transaction writes, and what is read to find a leaf again; a block that has more is not divided. */
const MAX_LEAVES = 2_048;

export function createGrowth({ database, network, onTruncated }: GrowthDeps): Growth {
  const blocks = createBlockStore(database);
  const meta = createMetaStore(database);
  const tree = createFactTree(database);
  const pastFacts = createPastFacts(database, network);
  const recent = createRecentBlocks();
  /** Whether the tree is known to be of the chain. */
  let isOfChain = false;

  /** Takes out of the tree what is not on the chain: it may have changed while the process did not run. */
  function followChain(): void {
    const last = tree.last();
    let common = last;
    while (common && blocks.header(common.height)?.id !== common.blockId) {
      common = tree.markAt(common.height - 1);
    }
    if (last && common?.height !== last.height) {
      tree.truncate(common);
      onTruncated(last, common);
    }
    isOfChain = true;
  }

  /** A node signs for what is in the tree: blocks whose signatures it has not checked are not in it until they are proved. */
  function final(): number {
    const height = finalHeight(blocks.head()?.height ?? 0, network);
    const unchecked = readUnchecked(meta);
    return unchecked ? Math.min(height, unchecked.from - 1) : height;
  }

  const leaves = (block: Block, known: KnownOfBlock): string[] =>
    leavesOf(block.header, pastFacts.of(block, known), network).map(leafText);

  return {
    applied: recent.add,
    reverted() {
      recent.clear();
      pastFacts.forget();
      isOfChain = false;
    },
    step(untilMs) {
      if (!isOfChain) database.transaction(followChain);
      const end = final();
      let height = tree.last()?.height ?? 0;
      if (height >= end) return false;
      let last: BlockHeader | undefined;
      const texts: string[] = [];
      while (height < end && texts.length < MAX_LEAVES && (!last || performance.now() < untilMs)) {
        height++;
        const { block, opened } = recent.take(height) ?? { block: blocks.block(height)! };
        texts.push(...leaves(block, { previous: last, opened }));
        last = block.header;
      }
      // What a loss of power takes away is made again.
      database.transaction(() => tree.append(height, last!.id, hashLeaves(texts)), "process death");
      return height < end;
    },
    figures() {
      const { height = 0, size = 0 } = tree.last() ?? {};
      return { size, height, lag: Math.max(final() - height, 0) };
    },
  };
}
