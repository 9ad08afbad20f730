/** Reads the fact tree: checkpoints, leaves, proofs and tiles, each from one state of the database. */
import type { Network } from "@uniknode/protocol";
import { createPastFacts } from "../event-log/past-facts.ts";
import { present } from "../platform/present.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { createReadTogether } from "../store/engine/snapshot.ts";
import { type Leaf, leavesOf } from "./leaf.ts";
import { EMPTY_ROOT, HASH_BYTES, type Hash } from "./merkle/hashes.ts";
import { consistencyProof, inclusionProof, rootOf } from "./merkle/proofs.ts";
import { nodesOfTiles, widthOf } from "./merkle/tiles.ts";
import type { Checkpoint } from "./note.ts";
import { lastMarkOnChain } from "./tree/last-mark.ts";
import { createFactTree } from "./tree/store.ts";

export type FactReader = {
  checkpoint(): Checkpoint;
  /** Returns the root of the tree when it had this size; undefined if it never had this size. */
  rootAt(size: number): Hash | undefined;
  /** Returns an inclusion proof; undefined if there is no tree of this size or it does not have the leaf. */
  inclusion(
    index: number,
    size: number | undefined,
  ): { readonly leaf: Leaf; readonly size: number; readonly root: Hash; readonly proof: Hash[] } | undefined;
  /** Returns a consistency proof; undefined if the tree never had one of the sizes. */
  consistency(from: number, to: number): Hash[] | undefined;
  /** Returns `count` adjacent leaves; undefined if the tree has fewer. */
  leaves(first: number, count: number): Leaf[] | undefined;
  /** Returns the first `width` hashes of a tile; undefined if it has fewer. */
  tile(level: number, number: number, width: number): Uint8Array | undefined;
};

export function createFactReader(database: Database, network: Network): FactReader {
  const tree = createFactTree(database);
  const blocks = createBlockStore(database);
  const leavesFrom = createLeafReader(database, network);
  const together = createReadTogether(database);
  /** The last checkpoint, cached because many clients request it between two blocks. */
  let newest: Checkpoint | undefined;

  const last = () => lastMarkOnChain(tree, blocks);
  const sizeNow = () => last()?.size ?? 0;
  const nodes = () => nodesOfTiles(tree.tile);

  return {
    checkpoint: () =>
      together(() => {
        const mark = last();
        if (!mark) return { size: 0, root: EMPTY_ROOT };
        // The id of the block determines all facts up to it.
        if (newest?.block?.id !== mark.blockId) {
          const block = { height: mark.height, id: mark.blockId };
          newest = { size: mark.size, root: rootOf(mark.size, nodes()), block };
        }
        return newest;
      }),
    rootAt: (size) => together(() => (size <= sizeNow() ? rootOf(size, nodes()) : undefined)),
    inclusion: (index, given) =>
      together(() => {
        const now = sizeNow();
        const size = given ?? now;
        if (index >= size || size > now) return undefined;
        const known = nodes();
        const proof = inclusionProof(index, size, known);
        const leaf = present(leavesFrom(index, 1)[0], `leaf ${index}`);
        return { leaf, size, root: rootOf(size, known), proof };
      }),
    consistency: (from, to) =>
      together(() => (from <= to && to <= sizeNow() ? consistencyProof(from, to, nodes()) : undefined)),
    leaves: (first, count) =>
      together(() => (first + count <= sizeNow() ? leavesFrom(first, count) : undefined)),
    tile: (level, number, width) =>
      together(() =>
        width <= widthOf(level, number, sizeNow())
          ? tree.tile(level, number)?.subarray(0, width * HASH_BYTES)
          : undefined,
      ),
  };
}

/** Returns a function that derives leaves of the tree from the blocks of the steps that added them. */
function createLeafReader(database: Database, network: Network): (first: number, count: number) => Leaf[] {
  const tree = createFactTree(database);
  const blocks = createBlockStore(database);
  const pastFacts = createPastFacts(database, network);
  return (first, count) => {
    pastFacts.forget();
    const before = tree.markBefore(first);
    const found: Leaf[] = [];
    let passed = before?.size ?? 0;
    for (let height = (before?.height ?? 0) + 1; found.length < count; height++) {
      const block = present(blocks.block(height), `block ${height}`);
      const leaves = leavesOf(block.header, pastFacts.of(block), network);
      found.push(...leaves.slice(Math.max(first - passed, 0)));
      passed += leaves.length;
    }
    return found.slice(0, count);
  };
}
