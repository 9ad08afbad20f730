/**
 * Ids of the blocks of listed transactions, cached by head: the transactions of a page have few blocks, and a subquery for each row
 * would be a fifth of the statement.
 */
import { LRUCache } from "lru-cache";
import { present } from "../../platform/present.ts";
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

export function createIdentifyBlocks(maxIds = MAX_IDS): IdentifyBlocks {
  const knownAt = perHead(() => new LRUCache<number, string>({ max: maxIds }));
  return async (reads, rows) => {
    const known = knownAt(reads.head);
    const ids = new Map(rows.map(({ height }) => [height, known.get(height)]));
    const missing = [...ids.keys()].filter((height) => ids.get(height) === undefined);
    const found = missing.length === 0 ? [] : await reads.query<Identified>(IDS, [missing]);
    for (const { height, id } of found) {
      ids.set(height, id);
      known.set(height, id);
    }
    for (const row of rows) row.blockId = present(ids.get(row.height), "the block of a transaction");
  };
}
