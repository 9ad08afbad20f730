/** Reads the fact tree in SQLite. Reads have settled when they return. */
import { type Block, createRounds, type Network, type Rounds } from "@uniknode/protocol";
import { PastFacts } from "../../event-log/past-facts.ts";
import { present } from "../../platform/present.ts";
import { BlockStore } from "../../store/chain/blocks.ts";
import { createFactLookups } from "../../store/chain/fact-lookups.ts";
import { createReadTogether, type Database, type ReadTogether } from "../../store/engine/database.ts";
import { endsRound, type Leaf, leavesOf, type TreeFact, withUniksRoot } from "../leaf.ts";
import {
  consistencyProof,
  EMPTY_ROOT,
  HASH_BYTES,
  type Hash,
  inclusionProof,
  rootOf,
} from "../merkle/proofs.ts";
import { widthOf } from "../merkle/tiles.ts";
import type { Checkpoint } from "../note.ts";
import type { FactReader, Inclusion, Resolution } from "../reader.ts";
import { FactTree, type Mark } from "../tree/store.ts";
import { UnikReader } from "../uniks/reader.ts";

export class SqliteFactReader implements FactReader {
  readonly #network: Network;
  readonly #tree: FactTree;
  readonly #blocks: BlockStore;
  readonly #uniks: UnikReader;
  readonly #pastFacts: PastFacts;
  readonly #roundAt: Rounds["roundAt"];
  readonly #together: ReadTogether;
  /** The last checkpoint, cached because many clients request it between two blocks. */
  #newest: Checkpoint | undefined;

  constructor(database: Database, network: Network) {
    this.#network = network;
    this.#tree = new FactTree(database);
    this.#blocks = new BlockStore(database);
    this.#uniks = new UnikReader(database);
    this.#pastFacts = new PastFacts(createFactLookups(database), network);
    this.#roundAt = createRounds(network).roundAt;
    this.#together = createReadTogether(database);
  }

  async checkpoint(): Promise<Checkpoint> {
    return this.#together(() => this.#checkpoint());
  }

  async inclusion(index: number, given: number | undefined): Promise<Inclusion | undefined> {
    return this.#together(() => {
      const now = this.#checkpoint();
      const size = given ?? now.size;
      return index >= size || size > now.size ? undefined : this.#prove(index, size, now);
    });
  }

  async consistency(from: number, to: number): Promise<Hash[] | undefined> {
    return this.#together(() =>
      from <= to && to <= this.#size() ? consistencyProof(from, to, this.#tree.nodes()) : undefined,
    );
  }

  async leaves(first: number, count: number): Promise<Leaf[] | undefined> {
    return this.#together(() => (first + count <= this.#size() ? this.#leaves(first, count) : undefined));
  }

  async resolution(unik: string, from: readonly string[]): Promise<Resolution | undefined> {
    return this.#together(() => {
      const checkpoint = this.#checkpoint();
      const state = this.#uniks.state();
      // Without a leaf, or with one of reverted blocks, the map is about to be built again.
      if (state === undefined || state.place.leaf >= checkpoint.size) return undefined;
      const proof = inclusionProof(state.place.leaf, checkpoint.size, this.#tree.nodes());
      const leaf = { index: state.place.leaf, indexInBlock: state.place.indexInBlock, proof };
      return { ...this.#uniks.read(unik, from), map: this.#mapAt(state.height), leaf, checkpoint };
    });
  }

  async tile(level: number, number: number, width: number): Promise<Uint8Array | undefined> {
    return this.#together(() =>
      width <= widthOf(level, number, this.#size())
        ? this.#tree.tile(level, number)?.subarray(0, width * HASH_BYTES)
        : undefined,
    );
  }

  #checkpoint(): Checkpoint {
    const mark = this.#last();
    if (!mark) return { size: 0, root: EMPTY_ROOT };
    // The id of the block determines all facts up to it.
    if (this.#newest?.block?.id !== mark.blockId) {
      const block = { height: mark.height, id: mark.blockId };
      this.#newest = { size: mark.size, root: rootOf(mark.size, this.#tree.nodes()), block };
    }
    return this.#newest;
  }

  /** Returns the last mark whose block is on the chain: after a reorganisation, the tree has facts of reverted blocks. */
  #last(): Mark | undefined {
    let mark = this.#tree.last();
    while (mark && this.#blocks.header(mark.height)?.id !== mark.blockId)
      mark = this.#tree.markAt(mark.height - 1);
    return mark;
  }

  #size(): number {
    return this.#last()?.size ?? 0;
  }

  /** Returns the inclusion proof of a leaf that the tree of a size has. */
  #prove(index: number, size: number, now: Checkpoint): Inclusion {
    const nodes = this.#tree.nodes();
    return {
      leaf: present(this.#leaves(index, 1)[0], `leaf ${index}`),
      size,
      root: size === now.size ? now.root : rootOf(size, nodes),
      proof: inclusionProof(index, size, nodes),
    };
  }

  /** Describes the map after the round that ends at a height. */
  #mapAt(height: number): Resolution["map"] {
    return {
      height,
      blockId: present(this.#blocks.header(height), `block ${height}`).id,
      round: this.#roundAt(height).round,
      ...this.#uniks.rootAt(height),
    };
  }

  /** Derives leaves of the tree from the blocks of the steps that added them. */
  #leaves(first: number, count: number): Leaf[] {
    this.#pastFacts.forget();
    const before = this.#tree.markBefore(first);
    const found: Leaf[] = [];
    let passed = before?.size ?? 0;
    for (let height = (before?.height ?? 0) + 1; found.length < count; height++) {
      const block = present(this.#blocks.block(height), `block ${height}`);
      const facts = this.#factsAt(block);
      const start = Math.max(first - passed, 0);
      // Only the requested leaves are hashed.
      const requested = facts.slice(start, start + count - found.length);
      found.push(...leavesOf(block.header, requested, this.#network, start));
      passed += facts.length;
    }
    return found;
  }

  #factsAt(block: Block): readonly TreeFact[] {
    const { height } = block.header;
    const facts = this.#pastFacts.of(block);
    if (!endsRound(height, this.#roundAt)) return facts;
    const { round } = this.#roundAt(height);
    return withUniksRoot(facts, { name: "uniks.root", round, ...this.#uniks.rootAt(height) });
  }
}
