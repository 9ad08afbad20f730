/** The Merkle tree of final facts in the database of a mirror: one row with its right edge. */
import { type Edge, EMPTY_EDGE } from "../../facts/merkle/edge.ts";
import type { Position } from "../../feed/position.ts";
import type { Query, Transaction } from "../../postgres/connection.ts";
import { NO_BLOCK } from "../head.ts";
import { emptyMap } from "./uniks.ts";

/** The tree up to and including a block. */
export type FactTree = Position & { readonly edge: Edge };

type TreeRow = { height: string; id: string; size: string; edge: Uint8Array };

export async function readTree(query: Query): Promise<FactTree> {
  const [row] = await query<TreeRow>("SELECT height, id, size, edge FROM facts");
  if (!row) return { ...NO_BLOCK, edge: EMPTY_EDGE };
  return { height: Number(row.height), id: row.id, edge: { size: Number(row.size), hashes: row.edge } };
}

export async function writeTree(transaction: Transaction, { height, id, edge }: FactTree): Promise<void> {
  await transaction.change(
    `INSERT INTO facts (height, id, size, edge) VALUES ($1, $2, $3, $4)
     ON CONFLICT (is_single) DO UPDATE SET height = $1, id = $2, size = $3, edge = $4`,
    [height, id, edge.size, edge.hashes],
  );
}

/** Empties the tree and the map of uniks if they have facts of blocks above a height. The next growth begins at the first block. */
export async function removeFactsAbove(transaction: Transaction, height: number): Promise<void> {
  const removed = await transaction.change("DELETE FROM facts WHERE height > $1", [height]);
  if (removed > 0) await emptyMap(transaction);
}
