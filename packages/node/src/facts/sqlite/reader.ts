/** Reads the fact tree in SQLite. Reads have settled when they return. */
import { type Block, createRounds, type Network } from "@uniknode/protocol";
import { createPastFacts } from "../../event-log/past-facts.ts";
import { present } from "../../platform/present.ts";
import { type BlockStore, createBlockStore } from "../../store/chain/blocks.ts";
import { createFactLookups } from "../../store/chain/fact-lookups.ts";
import { createReadTogether, type Database } from "../../store/engine/database.ts";
import { endsRound, type Leaf, leavesOf, type TreeFact, withUniksRoot } from "../leaf.ts";
import {
  consistencyProof,
  EMPTY_ROOT,
  HASH_BYTES,
  inclusionProof,
  type Nodes,
  rootOf,
} from "../merkle/proofs.ts";
import { nodesOfTiles, widthOf } from "../merkle/tiles.ts";
import type { Checkpoint } from "../note.ts";
import type { FactReader, Inclusion, Resolution } from "../reader.ts";
import { createFactTree, type FactTree, type Mark } from "../tree/store.ts";
import { createUnikReader, type UnikReader } from "../uniks/reader.ts";
import { createRoots } from "../uniks/state.ts";

export function createSqliteFactReader(database: Database, network: Network): FactReader {
  const tree = createFactTree(database);
  const blocks = createBlockStore(database);
  const uniks = createUnikReader(database);
  const mapAt = createMapReader(blocks, network, uniks);
  const leavesFrom = createLeafReader(database, network);
  const together = createReadTogether(database);
  /** The last checkpoint, cached because many clients request it between two blocks. */
  let newest: Checkpoint | undefined;

  const last = () => lastMarkOnChain(tree, blocks);
  const sizeNow = () => last()?.size ?? 0;
  const nodes = () => nodesOfTiles(tree.tile);

  function checkpoint(): Checkpoint {
    const mark = last();
    if (!mark) return { size: 0, root: EMPTY_ROOT };
    // The id of the block determines all facts up to it.
    if (newest?.block?.id !== mark.blockId) {
      const block = { height: mark.height, id: mark.blockId };
      newest = { size: mark.size, root: rootOf(mark.size, nodes()), block };
    }
    return newest;
  }

  return {
    checkpoint: async () => together(checkpoint),
    rootAt: async (size) => together(() => (size <= sizeNow() ? rootOf(size, nodes()) : undefined)),
    inclusion: async (index, given) =>
      together(() => {
        const now = checkpoint();
        const size = given ?? now.size;
        if (index >= size || size > now.size) return undefined;
        return prove(index, size, now, { nodes: nodes(), leavesFrom });
      }),
    consistency: async (from, to) =>
      together(() => (from <= to && to <= sizeNow() ? consistencyProof(from, to, nodes()) : undefined)),
    leaves: async (first, count) =>
      together(() => (first + count <= sizeNow() ? leavesFrom(first, count) : undefined)),
    resolution: async (unik, from) =>
      together(() => {
        const made = checkpoint();
        const state = uniks.state();
        // Without a leaf, or with one of reverted blocks, the map is about to be built again.
        if (state === undefined || state.place.leaf >= made.size) return undefined;
        const proof = inclusionProof(state.place.leaf, made.size, nodes());
        const leaf = { index: state.place.leaf, indexInBlock: state.place.indexInBlock, proof };
        return { ...uniks.read(unik, from), map: mapAt(state.height), leaf, checkpoint: made };
      }),
    tile: async (level, number, width) =>
      together(() =>
        width <= widthOf(level, number, sizeNow())
          ? tree.tile(level, number)?.subarray(0, width * HASH_BYTES)
          : undefined,
      ),
  };
}

/** Returns the last mark whose block is on the chain: after a reorganisation, the tree has facts of reverted blocks. */
function lastMarkOnChain(tree: FactTree, blocks: Pick<BlockStore, "header">): Mark | undefined {
  let mark = tree.last();
  while (mark && blocks.header(mark.height)?.id !== mark.blockId) mark = tree.markAt(mark.height - 1);
  return mark;
}

/** Returns a function that describes the map after the round that ends at a height. */
function createMapReader(blocks: BlockStore, network: Network, uniks: UnikReader) {
  const { roundAt } = createRounds(network);
  return (height: number): Resolution["map"] => ({
    height,
    blockId: present(blocks.header(height), `block ${height}`).id,
    round: roundAt(height).round,
    ...uniks.rootAt(height),
  });
}

type LeafReader = (first: number, count: number) => Leaf[];

/** Returns the inclusion proof of a leaf that the tree of a size has. */
const prove = (
  index: number,
  size: number,
  now: Checkpoint,
  { nodes, leavesFrom }: { readonly nodes: Nodes; readonly leavesFrom: LeafReader },
): Inclusion => ({
  leaf: present(leavesFrom(index, 1)[0], `leaf ${index}`),
  size,
  root: size === now.size ? now.root : rootOf(size, nodes),
  proof: inclusionProof(index, size, nodes),
});

/** Returns a function that derives leaves of the tree from the blocks of the steps that added them. */
function createLeafReader(database: Database, network: Network): LeafReader {
  const tree = createFactTree(database);
  const blocks = createBlockStore(database);
  const pastFacts = createPastFacts(createFactLookups(database), network);
  const roots = createRoots(database);
  const { roundAt } = createRounds(network);

  function factsAt(block: Block): readonly TreeFact[] {
    const { height } = block.header;
    const facts = pastFacts.of(block);
    if (!endsRound(height, roundAt)) return facts;
    const root = { name: "uniks.root", round: roundAt(height).round, ...roots.at(height) } as const;
    return withUniksRoot(facts, root);
  }

  return (first, count) => {
    pastFacts.forget();
    const before = tree.markBefore(first);
    const found: Leaf[] = [];
    let passed = before?.size ?? 0;
    for (let height = (before?.height ?? 0) + 1; found.length < count; height++) {
      const block = present(blocks.block(height), `block ${height}`);
      const facts = factsAt(block);
      const start = Math.max(first - passed, 0);
      // Only the requested leaves are hashed.
      const requested = facts.slice(start, start + count - found.length);
      found.push(...leavesOf(block.header, requested, network, start));
      passed += facts.length;
    }
    return found;
  };
}
