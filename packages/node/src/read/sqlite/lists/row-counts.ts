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
import { createGivenUp } from "./given-up.ts";
import type { Stretches } from "./stretches.ts";

/** @throws {SnapshotError} */
export type RowCounts = (head: Head, paths: AccessPaths) => number;

/** Maximum number of cached totals, less if the texts of their selections are long. */
const MAX_TOTALS = 1_000;
const MAX_NAME_LENGTH = 4_000;

export function createRowCounts(database: Database, stretches: Stretches, listed: KeyedTable): RowCounts {
  const prepare = createStatementCache(database);
  const unlessGivenUp = createGivenUp();
  const totals = perHead(() => new LRUCache<string, number>({ max: MAX_TOTALS }));

  const countAtOnce = (paths: AccessPaths) =>
    (prepare(countText(listed, paths)).get(...valuesOf(paths)) as { total: number }).total;

  function count(paths: AccessPaths): number {
    // SQLite counts a table without reading its rows.
    if (paths.every(({ lookups, residuals }) => lookups.length + residuals.length === 0)) {
      return countAtOnce(paths);
    }
    let total = 0;
    for (const stretch of stretches(listed, paths, "asc")) total += countAtOnce(stretch.paths);
    return total;
  }

  return (head, paths) => {
    const known = totals(head);
    const name = [countText(listed, paths), ...valuesOf(paths)].join("\0");
    const total =
      known.get(name) ??
      unlessGivenUp(
        () => name,
        () => count(paths),
      );
    if (name.length <= MAX_NAME_LENGTH) known.set(name, total);
    return total;
  };
}
