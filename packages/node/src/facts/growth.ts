/**
 * Extends the fact tree up to the last final block, in steps. Every step starts from the state in the database, so that the
 * work resumes after a crash at any point.
 */
import type { BlockHeader, Network } from "@uniknode/protocol";
import { createPastFacts } from "../event-log/past-facts.ts";
import { present } from "../platform/present.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import { createFactLookups } from "../store/chain/fact-lookups.ts";
import type { Database } from "../store/engine/database.ts";
import { createMetaStore } from "../store/node/meta.ts";
import { readUnchecked } from "../store/node/unchecked.ts";
import { finalHeight } from "./final.ts";
import { leafText, leavesOf } from "./leaf.ts";
import { hashLeaves } from "./merkle/hashes.ts";
import { createRecentBlocks, type RecentBlock, type RecentBlocks } from "./recent-blocks.ts";
import { lastMarkOnChain } from "./tree/last-mark.ts";
import { createFactTree, type Mark } from "./tree/store.ts";

export type GrowthDeps = {
  readonly database: Database;
  readonly network: Network;
  /** Called when facts of reverted blocks were removed from the tree; `to` is undefined if the tree is empty. */
  readonly onTruncated: (from: Mark, to: Mark | undefined) => void;
};

export type GrowthFigures = {
  /** Leaves of the tree, and the height of its last block; 0 if the tree is empty. */
  readonly size: number;
  readonly height: number;
  /** Final blocks that are not in the tree yet. */
  readonly lag: number;
};

export type Growth = {
  /** Receives blocks that were just added to the chain, with their changes. */
  readonly applied: RecentBlocks["add"];
  /** Must be called after blocks were reverted. */
  reverted(): void;
  /**
   * Adds some of the missing blocks, in a transaction of its own.
   *
   * @param untilMs deadline by `performance.now`; no further block is started after it, but at least one is added
   * @returns whether more are missing
   */
  step(untilMs: number): boolean;
  figures(): GrowthFigures;
};

/** Limits the writes of one transaction, and the reads to find a leaf again; a block with more leaves is not split. */
const MAX_LEAVES = 2_048;

export function createGrowth({ database, network, onTruncated }: GrowthDeps): Growth {
  const blocks = createBlockStore(database);
  const meta = createMetaStore(database);
  const tree = createFactTree(database);
  const source = createLeafSource(database, network);
  /** True if the tree is known to belong to the chain. */
  let isOfChain = false;

  /** Truncates the tree to the chain, which may have changed while the process did not run. */
  function followChain(): void {
    const last = tree.last();
    const common = lastMarkOnChain(tree, blocks);
    if (last && common?.height !== last.height) {
      tree.truncate(common);
      onTruncated(last, common);
    }
    isOfChain = true;
  }

  /** Returns the last block to add: the node signs the tree, so blocks with unchecked signatures stay out until verified. */
  function final(): number {
    const height = finalHeight(blocks.head()?.height ?? 0, network);
    const unchecked = readUnchecked(meta);
    return unchecked ? Math.min(height, unchecked.from - 1) : height;
  }

  return {
    applied: source.applied,
    reverted() {
      source.reverted();
      isOfChain = false;
    },
    step(untilMs) {
      if (!isOfChain) database.transaction(followChain);
      const end = final();
      const height = tree.last()?.height ?? 0;
      if (height >= end) return false;
      const { last, texts } = source.read(height + 1, end, untilMs);
      // A power loss may undo this; the step is then repeated.
      database.transaction(() => tree.append(last.height, last.id, hashLeaves(texts)), "process death");
      return last.height < end;
    },
    figures() {
      const { height = 0, size = 0 } = tree.last() ?? {};
      return { size, height, lag: Math.max(final() - height, 0) };
    },
  };
}

/** Derives the leaves of blocks, which are cached until they are final. */
function createLeafSource(database: Database, network: Network) {
  const blocks = createBlockStore(database);
  const pastFacts = createPastFacts(createFactLookups(database), network);
  const recent = createRecentBlocks();

  const blockAt = (height: number): RecentBlock =>
    recent.take(height) ?? { block: present(blocks.block(height), `block ${height}`) };

  return {
    applied: recent.add,
    reverted(): void {
      recent.clear();
      pastFacts.forget();
    },
    /** Returns the texts of the leaves of some blocks, at least of the first one. */
    read(first: number, end: number, untilMs: number): { last: BlockHeader; texts: string[] } {
      const texts: string[] = [];
      let height = first;
      let last: BlockHeader | undefined;
      do {
        const { block, opened } = blockAt(height);
        const facts = pastFacts.of(block, { previous: last, opened });
        texts.push(...leavesOf(block.header, facts, network).map(leafText));
        last = block.header;
        height++;
      } while (height <= end && texts.length < MAX_LEAVES && performance.now() < untilMs);
      return { last, texts };
    },
  };
}
