/** Row counts of selections, cached until the next block. */
import { LRUCache } from "lru-cache";
import type { Database } from "../../../store/engine/database.ts";
import { type Head, perHead } from "../../head.ts";
import { createGivenUp } from "./given-up.ts";
import { type Alternatives, countText, createPreparer, type KeyedTable, valuesOf } from "./selection.ts";
import type { Stretches } from "./stretches.ts";

/** @throws {SnapshotError} */
export type RowCounts = (head: Head, alternatives: Alternatives) => number;

/** Maximum number of cached totals, less if the texts of their selections are long. */
const MAX_TOTALS = 1_000;
const MAX_NAME_LENGTH = 4_000;

export function createRowCounts(database: Database, stretches: Stretches, listed: KeyedTable): RowCounts {
  const prepare = createPreparer(database);
  const unlessGivenUp = createGivenUp();
  const totals = perHead(() => new LRUCache<string, number>({ max: MAX_TOTALS }));

  const countAtOnce = (alternatives: Alternatives) =>
    (prepare(countText(listed, alternatives)).get(...valuesOf(alternatives)) as { total: number }).total;

  function count(alternatives: Alternatives): number {
    // SQLite counts a table without reading its rows.
    if (alternatives.every(({ found, tests }) => found.length + tests.length === 0)) {
      return countAtOnce(alternatives);
    }
    let total = 0;
    for (const stretch of stretches(listed, alternatives, "asc")) total += countAtOnce(stretch.alternatives);
    return total;
  }

  return (head, alternatives) => {
    const known = totals(head);
    const name = [countText(listed, alternatives), ...valuesOf(alternatives)].join("\0");
    const total =
      known.get(name) ??
      unlessGivenUp(
        () => name,
        () => count(alternatives),
      );
    if (name.length <= MAX_NAME_LENGTH) known.set(name, total);
    return total;
  };
}
