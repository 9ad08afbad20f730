/** Row counts of selections, cached until the next block. */
import { LRUCache } from "lru-cache";
import type { Database } from "../../../store/engine/database.ts";
import { type Head, perHead } from "../../head.ts";
import {
  type AccessPaths,
  countText,
  createStatementCache,
  type KeyedTable,
  valuesOf,
} from "./access-paths.ts";
import { type ChunksOf, createTimeoutCache } from "./time-box.ts";

/** @throws {SnapshotError} */
export type RowCounts = (head: Head, paths: AccessPaths) => number;

/** Maximum number of cached totals, less if the texts of their selections are long. */
const MAX_TOTALS = 1_000;
const MAX_NAME_LENGTH = 4_000;

export function createRowCounts(database: Database, chunksOf: ChunksOf, listed: KeyedTable): RowCounts {
  const prepare = createStatementCache(database);
  const unlessTimedOut = createTimeoutCache();
  const totals = perHead(() => new LRUCache<string, number>({ max: MAX_TOTALS }));

  const countAtOnce = (paths: AccessPaths) =>
    (prepare(countText(listed, paths)).get(...valuesOf(paths)) as { total: number }).total;

  function count(paths: AccessPaths): number {
    // SQLite counts a table without reading its rows.
    if (paths.every(({ lookups, residuals }) => lookups.length + residuals.length === 0)) {
      return countAtOnce(paths);
    }
    let total = 0;
    for (const { paths: chunk } of chunksOf(listed, paths, "asc")) total += countAtOnce(chunk);
    return total;
  }

  return (head, paths) => {
    const known = totals(head);
    const name = [countText(listed, paths), ...valuesOf(paths)].join("\0");
    const total =
      known.get(name) ??
      unlessTimedOut(
        () => name,
        () => count(paths),
      );
    if (name.length <= MAX_NAME_LENGTH) known.set(name, total);
    return total;
  };
}
