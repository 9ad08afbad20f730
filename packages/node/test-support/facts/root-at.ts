import { type Hash, rootOf } from "../../src/facts/merkle/proofs.ts";
import { FactTree } from "../../src/facts/tree/store.ts";
import type { Database } from "../../src/store/engine/database.ts";

/** Returns the root of the fact tree of a node when it had this size; undefined if it is smaller. */
export function rootAt(database: Database, size: number): Hash | undefined {
  const tree = new FactTree(database);
  return size <= (tree.last()?.size ?? 0) ? rootOf(size, tree.nodes()) : undefined;
}
