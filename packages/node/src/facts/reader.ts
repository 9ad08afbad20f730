/** What the tree of facts answers: checkpoints, leaves, proofs and tiles, each from one moment of the database. */
import type { Network } from "@uniknode/protocol";
import { createPastFacts } from "../event-log/past-facts.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import type { Database } from "../store/engine/database.ts";
import { createReadTogether } from "../store/engine/snapshot.ts";
import { type Leaf, leavesOf } from "./leaf.ts";
import { EMPTY_ROOT, HASH_BYTES, type Hash } from "./merkle/hashes.ts";
import { consistencyProof, inclusionProof, rootOf } from "./merkle/proofs.ts";
import { nodesOfTiles, widthOf } from "./merkle/tiles.ts";
import type { Checkpoint } from "./note.ts";
import { createFactTree, type Mark } from "./tree/store.ts";

export type FactReader = {
  checkpoint(): Checkpoint;
  /** Root of the tree as it was when it had this size; absent where it never had as many. */
  rootAt(size: number): Hash | undefined;
  /** Absent where the tree of this size has no such leaf, or there is no such tree. */
  inclusion(
    index: number,
    size: number | undefined,
  ): { readonly leaf: Leaf; readonly size: number; readonly root: Hash; readonly proof: Hash[] } | undefined;
  /** Absent where the tree never had one of the sizes. */
  consistency(from: number, to: number): Hash[] | undefined;
  /** Leaves side by side, as many as asked for; absent where the tree has fewer. */
  leaves(first: number, count: number): Leaf[] | undefined;
  /** The first hashes of a tile, as many as asked for; absent where it has fewer. */
  tile(level: number, number: number, width: number): Uint8Array | undefined;
};

export function createFactReader(database: Database, network: Network): FactReader {
  const tree = createFactTree(database);
  const blocks = createBlockStore(database);
  const pastFacts = createPastFacts(database, network);
  const together = createReadTogether(database);
  /** The last checkpoint that was made: many ask for it between two blocks. */
  let newest: Checkpoint | undefined;

  /** Between a reorganisation and the next step of the growth, the last blocks of the tree are not those of the chain. */
  function last(): Mark | undefined {
    let mark = tree.last();
    while (mark && blocks.header(mark.height)?.id !== mark.blockId) mark = tree.markAt(mark.height - 1);
    return mark;
  }

  const sizeNow = () => last()?.size ?? 0;
  const nodes = () => nodesOfTiles(tree.tile);

  /** Leaves that the tree has: found in the blocks of the steps that added them. */
  function leavesFrom(first: number, count: number): Leaf[] {
    pastFacts.forget();
    const before = tree.markBefore(first);
    const found: Leaf[] = [];
    let passed = before?.size ?? 0;
    for (let height = (before?.height ?? 0) + 1; found.length < count; height++) {
      const block = blocks.block(height)!;
      const leaves = leavesOf(block.header, pastFacts.of(block), network);
      found.push(...leaves.slice(Math.max(first - passed, 0)));
      passed += leaves.length;
    }
    return found.slice(0, count);
  }

  return {
    checkpoint: () =>
      together(() => {
        const mark = last();
        if (!mark) return { size: 0, root: EMPTY_ROOT };
        // The block says which facts are before it.
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
        return { leaf: leavesFrom(index, 1)[0]!, size, root: rootOf(size, known), proof };
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
