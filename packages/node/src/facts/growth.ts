/**
 * Extends the fact tree up to the last final block, in steps. Every step starts from the state in the database, so that the
 * work resumes after a crash at any point.
 */
import { createRounds, type Network, type Rounds } from "@uniknode/protocol";
import { present } from "../platform/present.ts";
import { BlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { MetaStore, readUnchecked } from "../store/node/meta.ts";
import { finalHeight } from "./final.ts";
import { type AppliedBlocks, LeafSource } from "./leaf-source.ts";
import { hashLeaves } from "./merkle/proofs.ts";
import { FactTree, type Mark } from "./tree/store.ts";
import { UnikMap } from "./uniks/store.ts";

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

export class Growth {
  readonly #database: Database;
  readonly #network: Network;
  readonly #blocks: BlockStore;
  readonly #meta: MetaStore;
  readonly #tree: FactTree;
  readonly #uniks: UnikMap;
  readonly #roundAt: Rounds["roundAt"];
  readonly #source: LeafSource;
  readonly #truncation: Truncation;
  /** True if the tree and the map are known to belong to the chain. */
  #isOfChain = false;

  constructor({ database, network, onTruncated }: GrowthDeps) {
    this.#database = database;
    this.#network = network;
    this.#blocks = new BlockStore(database);
    this.#meta = new MetaStore(database);
    this.#tree = new FactTree(database);
    this.#uniks = new UnikMap(database, network);
    this.#roundAt = createRounds(network).roundAt;
    this.#source = new LeafSource(database, network, this.#uniks);
    this.#truncation = new Truncation(this.#tree, this.#blocks, onTruncated);
  }

  /** Receives blocks that were just added to the chain, with their changes. */
  applied(blocks: AppliedBlocks): void {
    this.#source.applied(blocks);
  }

  /** Must be called after blocks were reverted. */
  reverted(): void {
    this.#source.reverted();
    this.#isOfChain = false;
  }

  /**
   * Adds some of the missing blocks, in transactions of their own, or prepares the next one.
   *
   * @param untilMs deadline by `performance.now`; no further work is begun after it, but at least some is done
   * @returns whether more are missing
   */
  step(untilMs: number): boolean {
    while (!this.#isOfChain) {
      this.#database.transaction(() => this.#followChain(), "process death");
      if (!this.#isOfChain && performance.now() >= untilMs) return true;
    }
    const end = this.#final();
    const { height = 0, size = 0 } = this.#tree.last() ?? {};
    if (height >= end) return false;
    // If the transaction fails, the map discards the changes in memory.
    this.#isOfChain = false;
    // A power loss may undo this; the step is then repeated.
    const last = this.#database.transaction(() => {
      if (this.#completeMap(height, untilMs)) return undefined;
      const { last, marks, texts } = this.#source.read(height + 1, end, { untilMs, size });
      if (last) this.#tree.append(marks, hashLeaves(texts));
      return last;
    }, "process death");
    this.#isOfChain = true;
    return last === undefined || last.height < end;
  }

  figures(): GrowthFigures {
    const { height = 0, size = 0 } = this.#tree.last() ?? {};
    return { size, height, lag: Math.max(this.#final() - height, 0) };
  }

  /** Removes some of what the chain does not have: it may have changed while the process did not run. */
  #followChain(): void {
    this.#isOfChain =
      !this.#truncation.step() &&
      !this.#uniks.follow(this.#tree.last()?.height ?? 0, (height) => this.#idAt(height));
  }

  /** Returns the last block to add: the node signs the tree, so blocks with unchecked signatures stay out until verified. */
  #final(): number {
    const height = finalHeight(this.#blocks.head()?.height ?? 0, this.#network);
    const unchecked = readUnchecked(this.#meta);
    return unchecked ? Math.min(height, unchecked.from - 1) : height;
  }

  /**
   * Adds some of the rounds up to the end of the tree that the map lacks since it was emptied.
   *
   * @returns whether it lacked any
   */
  #completeMap(height: number, untilMs: number): boolean {
    const uniks = this.#uniks;
    const end = this.#roundAt(height + 1).roundHeight - 1;
    if (uniks.height() >= end) return false;
    do {
      const { roundHeight: first, maxDelegates } = this.#roundAt(uniks.height() + 1);
      const last = first + maxDelegates - 1;
      const id = present(this.#idAt(last), `block ${last}`);
      if (!uniks.addRound({ first, last, id }, untilMs)) return true;
      uniks.publish(last);
    } while (uniks.height() < end && performance.now() < untilMs);
    return true;
  }

  #idAt(height: number): string | undefined {
    return this.#blocks.header(height)?.id;
  }
}

/** Marks and leaves that one transaction removes. */
const MAX_MARKS = 1_000;
const MAX_REMOVED = 65_536;

/** Truncates the tree to the chain. */
class Truncation {
  readonly #tree: FactTree;
  readonly #blocks: BlockStore;
  readonly #onTruncated: GrowthDeps["onTruncated"];
  #from: Mark | undefined;

  constructor(tree: FactTree, blocks: BlockStore, onTruncated: GrowthDeps["onTruncated"]) {
    this.#tree = tree;
    this.#blocks = blocks;
    this.#onTruncated = onTruncated;
  }

  /** Removes some leaves; returns whether more may be left. */
  step(): boolean {
    const last = this.#tree.last();
    let mark = last;
    for (let count = 0; mark && this.#blocks.header(mark.height)?.id !== mark.blockId; count++) {
      if (count === MAX_MARKS || (last?.size ?? 0) - mark.size > MAX_REMOVED) break;
      mark = this.#tree.markAt(mark.height - 1);
    }
    if (mark?.height !== last?.height) {
      this.#tree.truncate(mark);
      this.#from ??= last;
      return true;
    }
    if (this.#from) this.#onTruncated(this.#from, last);
    this.#from = undefined;
    return false;
  }
}
