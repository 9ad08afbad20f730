/**
 * Ids of the blocks of listed transactions, cached by head: the transactions of a page have few blocks, and a subquery for each row
 * would be a fifth of the statement.
 */
import { LRUCache } from "lru-cache";
import { prepared } from "../../postgres/reads.ts";
import { perHead } from "../head.ts";
import type { SnapshotReads } from "./lists/reads.ts";

/** A transaction without the id of its block. */
export type WithoutBlockId = { readonly height: number; blockId: string };

/** Sets the ids of the blocks of transactions. */
export type IdentifyBlocks = (reads: SnapshotReads, rows: readonly WithoutBlockId[]) => Promise<void>;

/** Maximum number of cached ids, about 2 MB. */
const MAX_IDS = 20_000;

const IDS = prepared("SELECT height::float8 AS height, id FROM blocks WHERE height = ANY ($1::bigint[])");
type Identified = { readonly height: number; readonly id: string };

export function createIdentifyBlocks(): IdentifyBlocks {
  const knownAt = perHead(() => new LRUCache<number, string>({ max: MAX_IDS }));
  return async (reads, rows) => {
    const known = knownAt(reads.head);
    const heights = new Set(rows.map(({ height }) => height));
    const missing = [...heights].filter((height) => !known.has(height));
    const found = missing.length === 0 ? [] : await reads.query<Identified>(IDS, [missing]);
    const ids = new Map(found.map(({ height, id }) => [height, id]));
    for (const [height, id] of ids) known.set(height, id);
    for (const row of rows) row.blockId = ids.get(row.height) ?? known.get(row.height) ?? "";
  };
}
