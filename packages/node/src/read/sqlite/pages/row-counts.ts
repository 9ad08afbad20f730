/** The number of rows that a selection finds, remembered until the next block. */
import { LRUCache } from "lru-cache";
import type { Database } from "../../../store/engine/database.ts";
import { type Head, perHead } from "../../head.ts";
import { createGivenUp } from "./given-up.ts";
import { type Alternatives, countText, createPreparer, type ListedTable, valuesOf } from "./selection.ts";

/** @throws {SnapshotError} */
export type RowCounts = (head: Head, alternatives: Alternatives) => number;

/** Totals remembered, unless what they are totals of is long. */
const MAX_TOTALS = 1_000;
const MAX_NAME_LENGTH = 4_000;

export function createRowCounts(database: Database, listed: ListedTable): RowCounts {
  const prepare = createPreparer(database);
  const unlessGivenUp = createGivenUp();
  const totals = perHead(() => new LRUCache<string, number>({ max: MAX_TOTALS }));
  return (head, alternatives) => {
    const known = totals(head);
    const sql = countText(listed, alternatives);
    const values = valuesOf(alternatives);
    const name = [sql, ...values].join("\0");
    const count = () => (prepare(sql).get(...values) as { total: number }).total;
    const total = known.get(name) ?? unlessGivenUp(() => name, count);
    if (name.length <= MAX_NAME_LENGTH) known.set(name, total);
    return total;
  };
}
