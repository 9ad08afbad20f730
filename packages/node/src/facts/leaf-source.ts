/** Derives the leaves of blocks, which are cached until they are final, and adds each complete round to the map of uniks. */

import type { Change, Round } from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  createRounds,
  headerFromTrustedBytes,
  type Network,
  type Rounds,
  type SealedTransaction,
  sealedFromTrustedBytes,
} from "@uniknode/protocol";
import { PastFacts } from "../event-log/past-facts.ts";
import { present } from "../platform/present.ts";
import { BlockStore } from "../store/chain/blocks.ts";
import { createFactLookups } from "../store/chain/fact-lookups.ts";
import type { Database } from "../store/engine/database.ts";
import { endsRound, leafText, leavesOf, type TreeFact, type UniksRoot } from "./leaf.ts";
import type { Mark } from "./tree/store.ts";
import type { UnikMap } from "./uniks/store.ts";

/** Blocks with the records that each changed. */
export type AppliedBlocks = readonly { readonly block: Block; readonly changes: readonly Change[] }[];

type ReadLimits = {
  /** Deadline by `performance.now`. */
  readonly untilMs: number;
  /** Leaves of the tree before those to read. */
  readonly size: number;
};

type Leaves = {
  readonly last: BlockHeader | undefined;
  /** Some of the blocks, the last one included; their sizes count from the first of the leaves. */
  readonly marks: readonly Mark[];
  readonly texts: readonly string[];
};

/** Texts of the leaves of a block up to the last fact, `block.applied`. */
type Derived = { readonly header: BlockHeader; readonly texts: string[]; readonly applied: TreeFact };

/** A block whose leaves are being derived. */
type Begun = {
  readonly height: number;
  readonly work: Generator<void, Derived>;
  derived: Derived | undefined;
};

/** Limits the writes of one transaction; a block with more leaves is not split. */
const MAX_LEAVES = 2_048;
/** Number of leaves after which a block has a mark: a reader that searches a leaf derives those since the last mark. */
const LEAVES_PER_MARK = 32;
/** Transactions or leaves between two looks at the clock: two milliseconds for those with the most properties. */
const PIECE = 8;

export class LeafSource {
  readonly #network: Network;
  readonly #uniks: UnikMap;
  readonly #recent = new RecentBlocks();
  readonly #derivation: Derivation;
  readonly #roundAt: Rounds["roundAt"];

  constructor(database: Database, network: Network, uniks: UnikMap) {
    this.#network = network;
    this.#uniks = uniks;
    this.#derivation = new Derivation(database, network, this.#recent);
    this.#roundAt = createRounds(network).roundAt;
  }

  /** Receives blocks that were just added to the chain. */
  applied(blocks: AppliedBlocks): void {
    this.#recent.add(blocks);
  }

  /** Must be called after blocks were reverted. */
  reverted(): void {
    this.#recent.clear();
    this.#derivation.forget();
  }

  /**
   * Returns the texts of the leaves of some blocks, and the last one of these blocks; of no block if the deadline passed before the first
   * one was complete: the next call continues with it. Publishes the roots of the map among them, inside the caller's transaction.
   */
  read(first: number, end: number, { untilMs, size }: ReadLimits): Leaves {
    const network = this.#network;
    const texts: string[] = [];
    const marks: Mark[] = [];
    let last: BlockHeader | undefined;
    for (let height = first; height <= end && texts.length < MAX_LEAVES; height++) {
      const derived = this.#derivation.until(untilMs, height, last);
      if (!derived) break;
      const { header, applied } = derived;
      const ofBlock = [...derived.texts];
      if (endsRound(height, this.#roundAt)) {
        const root = this.#rootAfter(header, untilMs);
        if (!root) break;
        const indexInBlock = ofBlock.length;
        ofBlock.push(textOf(header, root, { network, index: indexInBlock }));
        this.#uniks.publish(height, { leaf: size + texts.length + indexInBlock, indexInBlock });
      }
      ofBlock.push(textOf(header, applied, { network, index: ofBlock.length }));
      this.#derivation.end();
      for (const text of ofBlock) texts.push(text);
      last = header;
      if (texts.length - (marks.at(-1)?.size ?? 0) >= LEAVES_PER_MARK)
        marks.push(markOf(header, texts.length));
      if (performance.now() >= untilMs) break;
    }
    if (last && marks.at(-1)?.height !== last.height) marks.push(markOf(last, texts.length));
    return { last, marks, texts };
  }

  /** Adds the round that a block ends to the map; undefined if changes are left for the next step. */
  #rootAfter({ height, id }: BlockHeader, untilMs: number): UniksRoot | undefined {
    const { round, roundHeight } = this.#roundAt(height);
    const root = this.#uniks.addRound({ first: roundHeight, last: height, id }, untilMs);
    return root && { name: "uniks.root", round, ...root };
  }
}

const markOf = ({ height, id }: BlockHeader, size: number): Mark => ({ height, blockId: id, size });

const textOf = (
  header: BlockHeader,
  fact: TreeFact,
  { network, index }: { network: Network; index: number },
): string => present(leavesOf(header, [fact], network, index).map(leafText)[0]);

/** Derives the leaves of one block after the other, each up to a deadline. */
class Derivation {
  readonly #network: Network;
  readonly #recent: RecentBlocks;
  readonly #blocks: BlockStore;
  readonly #pastFacts: PastFacts;
  #begun: Begun | undefined;

  constructor(database: Database, network: Network, recent: RecentBlocks) {
    this.#network = network;
    this.#recent = recent;
    this.#blocks = new BlockStore(database);
    this.#pastFacts = new PastFacts(createFactLookups(database), network);
  }

  /** Returns the leaves of a block; undefined if the deadline passes before they are complete: the next call continues. */
  until(untilMs: number, height: number, previous: BlockHeader | undefined): Derived | undefined {
    const block: Begun =
      this.#begun?.height === height
        ? this.#begun
        : { height, work: this.#derive(height, previous), derived: undefined };
    // After an error, the block is derived anew.
    this.end();
    while (!block.derived) {
      const { value, done } = block.work.next();
      if (done) block.derived = value;
      else if (performance.now() >= untilMs) break;
    }
    this.#begun = block;
    return block.derived;
  }

  /** Must be called when the leaves are in the tree. */
  end(): void {
    this.#begun = undefined;
  }

  /** Must be called after blocks were reverted. */
  forget(): void {
    this.#pastFacts.forget();
    this.end();
  }

  /** Derives the leaves of a block; yields between some of them. */
  *#derive(height: number, previous: BlockHeader | undefined): Generator<void, Derived> {
    const { block, opened } = yield* this.#readBlock(height);
    const { header } = block;
    const facts: TreeFact[] = this.#pastFacts.of(block, { previous, opened });
    const applied = present(facts.pop());
    const texts: string[] = [];
    for (const fact of facts) {
      texts.push(textOf(header, fact, { network: this.#network, index: texts.length }));
      if (texts.length % PIECE === 0) yield;
    }
    return { header, texts, applied };
  }

  /** Reads a block; yields between some transactions. */
  *#readBlock(height: number): Generator<void, Omit<RecentBlock, "bytes">> {
    const cached = this.#recent.take(height);
    if (cached) return cached;
    const read = present(this.#blocks.bytes(height, height)[0], `block ${height}`);
    const transactions: SealedTransaction[] = [];
    for (const [index, bytes] of read.transactions.entries()) {
      transactions.push(sealedFromTrustedBytes(bytes, present(read.transactionIds[index])));
      if (index % PIECE === PIECE - 1) yield;
    }
    return { block: { header: headerFromTrustedBytes(read.header, read.id), transactions } };
  }
}

/** Maximum number of blocks in one commit of a syncing node; older blocks are read from the database. */
const MAX_BLOCKS = 16_384;
/** Bytes of all transactions; decoded, they need several times as much. */
const MAX_BYTES = 3 * 1024 * 1024;

/** A block, the round that it opened, if any, and the bytes of its transactions. */
type RecentBlock = { readonly block: Block; readonly opened?: Round | undefined; readonly bytes: number };

/** Caches the latest blocks until they are final, so that they need not be read and decoded again. */
export class RecentBlocks {
  /** Blocks by height, oldest first. */
  readonly #held = new Map<number, RecentBlock>();
  #bytes = 0;

  add(applied: AppliedBlocks): void {
    for (const { block, changes } of applied.slice(-MAX_BLOCKS)) {
      const opened = changes.find(({ table }) => table === "rounds")?.after as Round | undefined;
      const bytes = block.transactions.reduce((sum, transaction) => sum + transaction.bytes.length, 0);
      this.#held.set(block.header.height, { block, opened, bytes });
      this.#bytes += bytes;
    }
    for (const height of this.#held.keys()) {
      if (this.#held.size <= MAX_BLOCKS && this.#bytes <= MAX_BYTES) return;
      this.take(height);
    }
  }

  /** Removes and returns the block at the height, if it is cached. */
  take(height: number): RecentBlock | undefined {
    const recent = this.#held.get(height);
    if (!recent) return undefined;
    this.#held.delete(height);
    this.#bytes -= recent.bytes;
    return recent;
  }

  /** Must be called after blocks were reverted. */
  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
  }
}
