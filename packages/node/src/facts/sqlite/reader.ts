/** Reads the fact tree in SQLite. Reads have settled when they return. */
import type { Network } from "@uniknode/protocol";
import { createPastFacts } from "../../event-log/past-facts.ts";
import { present } from "../../platform/present.ts";
import { createBlockStore } from "../../store/chain/blocks.ts";
import { createFactLookups } from "../../store/chain/fact-lookups.ts";
import type { Database } from "../../store/engine/database.ts";
import { createReadTogether } from "../../store/engine/snapshot.ts";
import { type Leaf, leavesOf } from "../leaf.ts";
import { EMPTY_ROOT, HASH_BYTES } from "../merkle/hashes.ts";
import { consistencyProof, inclusionProof, rootOf } from "../merkle/proofs.ts";
import { nodesOfTiles, widthOf } from "../merkle/tiles.ts";
import type { Checkpoint } from "../note.ts";
import type { FactReader } from "../reader.ts";
import { lastMarkOnChain } from "../tree/last-mark.ts";
import { createFactTree } from "../tree/store.ts";

export function createSqliteFactReader(database: Database, network: Network): FactReader {
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
    checkpoint: async () =>
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
    rootAt: async (size) => together(() => (size <= sizeNow() ? rootOf(size, nodes()) : undefined)),
    inclusion: async (index, given) =>
      together(() => {
        const now = sizeNow();
        const size = given ?? now;
        if (index >= size || size > now) return undefined;
        const known = nodes();
        const proof = inclusionProof(index, size, known);
        const leaf = present(leavesFrom(index, 1)[0], `leaf ${index}`);
        return { leaf, size, root: rootOf(size, known), proof };
      }),
    consistency: async (from, to) =>
      together(() => (from <= to && to <= sizeNow() ? consistencyProof(from, to, nodes()) : undefined)),
    leaves: async (first, count) =>
      together(() => (first + count <= sizeNow() ? leavesFrom(first, count) : undefined)),
    tile: async (level, number, width) =>
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
  const pastFacts = createPastFacts(createFactLookups(database), network);
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
