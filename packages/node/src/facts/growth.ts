/**
 * Extends the fact tree up to the last final block, in steps. Every step starts from the state in the database, so that the
 * work resumes after a crash at any point.
 */
import { type BlockHeader, createRounds, type Network, type Rounds } from "@uniknode/protocol";
import { createPastFacts } from "../event-log/past-facts.ts";
import { present } from "../platform/present.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import { createFactLookups } from "../store/chain/fact-lookups.ts";
import type { Database } from "../store/engine/database.ts";
import { createMetaStore } from "../store/node/meta.ts";
import { readUnchecked } from "../store/node/unchecked.ts";
import { finalHeight } from "./final.ts";
import { endsRound, leafText, leavesOf, type TreeFact, withUniksRoot } from "./leaf.ts";
import { hashLeaves } from "./merkle/hashes.ts";
import { createRecentBlocks, type RecentBlock, type RecentBlocks } from "./recent-blocks.ts";
import { lastMarkOnChain } from "./tree/last-mark.ts";
import { createFactTree, type Mark } from "./tree/store.ts";
import { createUnikMap, type RootPlace, type UnikMap } from "./uniks/store.ts";

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

/** Limits the writes of one transaction; a block with more leaves is not split. */
const MAX_LEAVES = 2_048;
/** Number of leaves after which a block has a mark: a reader that searches a leaf derives those since the last mark. */
const LEAVES_PER_MARK = 32;

export function createGrowth({ database, network, onTruncated }: GrowthDeps): Growth {
  const blocks = createBlockStore(database);
  const meta = createMetaStore(database);
  const tree = createFactTree(database);
  const uniks = createUnikMap(database, network);
  const { roundAt } = createRounds(network);
  const source = createLeafSource(database, network, uniks);
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
    uniks.truncate(common?.height ?? 0);
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
      // A power loss may undo this; the step is then repeated.
      const last = database.transaction(() => {
        if (completeMap(uniks, { height, untilMs, roundAt })) return undefined;
        const { marks, texts, uniksRoot } = source.read(height + 1, end, untilMs);
        if (uniksRoot) {
          const { leaf, indexInBlock } = uniksRoot;
          uniks.setHeight(uniksRoot.height, { leaf: (tree.last()?.size ?? 0) + leaf, indexInBlock });
        }
        tree.append(marks, hashLeaves(texts));
        return marks.at(-1);
      }, "process death");
      return last === undefined || last.height < end;
    },
    figures() {
      const { height = 0, size = 0 } = tree.last() ?? {};
      return { size, height, lag: Math.max(final() - height, 0) };
    },
  };
}

/** The last root of the map that a step adds, after a block; its leaf counts from the first leaf of the step. */
type StepRoot = RootPlace & { readonly height: number };

/**
 * Adds rounds up to the end of the tree that the map lacks since it was emptied.
 *
 * @returns whether it added any
 */
function completeMap(
  uniks: UnikMap,
  { height, untilMs, roundAt }: { height: number; untilMs: number; roundAt: Rounds["roundAt"] },
): boolean {
  const last = roundAt(height + 1).roundHeight - 1;
  if (uniks.height() >= last) return false;
  let end = uniks.height();
  do {
    const { roundHeight, maxDelegates } = roundAt(end + 1);
    end = roundHeight + maxDelegates - 1;
    uniks.addRound(roundHeight, end);
  } while (end < last && performance.now() < untilMs);
  uniks.setHeight(end);
  return true;
}

/** Derives the leaves of blocks, which are cached until they are final, and adds each complete round to the map of uniks. */
function createLeafSource(database: Database, network: Network, uniks: UnikMap) {
  const blocks = createBlockStore(database);
  const pastFacts = createPastFacts(createFactLookups(database), network);
  const recent = createRecentBlocks();
  const { roundAt } = createRounds(network);

  const blockAt = (height: number): RecentBlock =>
    recent.take(height) ?? { block: present(blocks.block(height), `block ${height}`) };

  /** Returns the facts of a block; with the root of the map after the last block of a round. */
  function factsOf({ block, opened }: RecentBlock, previous: BlockHeader | undefined): readonly TreeFact[] {
    const { height } = block.header;
    const facts = pastFacts.of(block, { previous, opened });
    if (!endsRound(height, roundAt)) return facts;
    const { round, roundHeight } = roundAt(height);
    return withUniksRoot(facts, { name: "uniks.root", round, ...uniks.addRound(roundHeight, height) });
  }

  return {
    applied: recent.add,
    reverted(): void {
      recent.clear();
      pastFacts.forget();
    },
    /**
     * Returns the texts of the leaves of some blocks, at least of the first one, the marks of these blocks, and the place of the last
     * root of the map.
     */
    read(
      first: number,
      end: number,
      untilMs: number,
    ): { marks: Mark[]; texts: string[]; uniksRoot: StepRoot | undefined } {
      const texts: string[] = [];
      const marks: Mark[] = [];
      let height = first;
      let last: BlockHeader | undefined;
      let uniksRoot: StepRoot | undefined;
      let isLast: boolean;
      do {
        const block = blockAt(height);
        const { header } = block.block;
        const leaves = leavesOf(header, factsOf(block, last), network);
        const root = leaves.findIndex(({ event }) => event === "uniks.root");
        if (root >= 0) uniksRoot = { height, leaf: texts.length + root, indexInBlock: root };
        texts.push(...leaves.map(leafText));
        last = header;
        height++;
        isLast = height > end || texts.length >= MAX_LEAVES || performance.now() >= untilMs;
        const unmarked = texts.length - (marks.at(-1)?.size ?? 0);
        if (isLast || unmarked >= LEAVES_PER_MARK)
          marks.push({ height: header.height, blockId: header.id, size: texts.length });
      } while (!isLast);
      return { marks, texts, uniksRoot };
    },
  };
}
