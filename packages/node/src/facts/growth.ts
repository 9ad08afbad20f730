/**
 * Extends the fact tree up to the last final block, in steps. Every step starts from the state in the database, so that the
 * work resumes after a crash at any point.
 */
import { createRounds, type Network, type Rounds } from "@uniknode/protocol";
import { present } from "../platform/present.ts";
import { type BlockStore, createBlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { createMetaStore, readUnchecked } from "../store/node/meta.ts";
import { finalHeight } from "./final.ts";
import { createLeafSource, type LeafSource } from "./leaf-source.ts";
import { hashLeaves } from "./merkle/proofs.ts";
import { createFactTree, type FactTree, type Mark } from "./tree/store.ts";
import { createUnikMap, type UnikMap } from "./uniks/store.ts";

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
  readonly applied: LeafSource["applied"];
  /** Must be called after blocks were reverted. */
  reverted(): void;
  /**
   * Adds some of the missing blocks, in transactions of their own, or prepares the next one.
   *
   * @param untilMs deadline by `performance.now`; no further work is begun after it, but at least some is done
   * @returns whether more are missing
   */
  step(untilMs: number): boolean;
  figures(): GrowthFigures;
};

export function createGrowth({ database, network, onTruncated }: GrowthDeps): Growth {
  const blocks = createBlockStore(database);
  const meta = createMetaStore(database);
  const tree = createFactTree(database);
  const uniks = createUnikMap(database, network);
  const { roundAt } = createRounds(network);
  const source = createLeafSource(database, network, uniks);
  const truncation = createTruncation(tree, blocks, onTruncated);
  const idAt = (height: number) => blocks.header(height)?.id;
  /** True if the tree and the map are known to belong to the chain. */
  let isOfChain = false;

  /** Removes some of what the chain does not have: it may have changed while the process did not run. */
  function followChain(): void {
    isOfChain = !truncation.step() && !uniks.follow(tree.last()?.height ?? 0, idAt);
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
      while (!isOfChain) {
        database.transaction(followChain, "process death");
        if (!isOfChain && performance.now() >= untilMs) return true;
      }
      const end = final();
      const height = tree.last()?.height ?? 0;
      if (height >= end) return false;
      // If the transaction fails, the map discards the changes in memory.
      isOfChain = false;
      // A power loss may undo this; the step is then repeated.
      const last = database.transaction(() => {
        if (completeMap(uniks, { height, untilMs, roundAt, idAt })) return undefined;
        const { last, marks, texts } = source.read(height + 1, end, {
          untilMs,
          size: tree.last()?.size ?? 0,
        });
        if (last) tree.append(marks, hashLeaves(texts));
        return last;
      }, "process death");
      isOfChain = true;
      return last === undefined || last.height < end;
    },
    figures() {
      const { height = 0, size = 0 } = tree.last() ?? {};
      return { size, height, lag: Math.max(final() - height, 0) };
    },
  };
}

/** Marks and leaves that one transaction removes. */
const MAX_MARKS = 1_000;
const MAX_REMOVED = 65_536;

/** Truncates the tree to the chain. */
function createTruncation(tree: FactTree, blocks: BlockStore, onTruncated: GrowthDeps["onTruncated"]) {
  let from: Mark | undefined;
  return {
    /** Removes some leaves; returns whether more may be left. */
    step(): boolean {
      const last = tree.last();
      let mark = last;
      for (let count = 0; mark && blocks.header(mark.height)?.id !== mark.blockId; count++) {
        if (count === MAX_MARKS || (last?.size ?? 0) - mark.size > MAX_REMOVED) break;
        mark = tree.markAt(mark.height - 1);
      }
      if (mark?.height !== last?.height) {
        tree.truncate(mark);
        from ??= last;
        return true;
      }
      if (from) onTruncated(from, last);
      from = undefined;
      return false;
    },
  };
}

/**
 * Adds some of the rounds up to the end of the tree that the map lacks since it was emptied.
 *
 * @returns whether it lacked any
 */
function completeMap(
  uniks: UnikMap,
  given: {
    readonly height: number;
    readonly untilMs: number;
    readonly roundAt: Rounds["roundAt"];
    readonly idAt: (height: number) => string | undefined;
  },
): boolean {
  const { height, untilMs, roundAt, idAt } = given;
  const end = roundAt(height + 1).roundHeight - 1;
  if (uniks.height() >= end) return false;
  do {
    const { roundHeight: first, maxDelegates } = roundAt(uniks.height() + 1);
    const last = first + maxDelegates - 1;
    const id = present(idAt(last), `block ${last}`);
    if (!uniks.addRound({ first, last, id }, untilMs)) return true;
    uniks.publish(last);
  } while (uniks.height() < end && performance.now() < untilMs);
  return true;
}
