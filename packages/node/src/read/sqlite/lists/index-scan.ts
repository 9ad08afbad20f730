/**
 * Plan "index scan": one statement reads rows in the order of an index from the earliest start of the page, or sorts the few rows
 * that an index finds. Costs the rows from that start to the end of the page if an index has the order, otherwise all rows
 * that are found.
 */
import { present } from "../../../platform/present.ts";
import type { Database } from "../../../store/engine/database.ts";
import type { Found, Range } from "../../page.ts";
import {
  accessPathsOf,
  createStatementCache,
  fromText,
  inRange,
  type ListedTable,
  orderText,
  pageText,
  type Selection,
  valuesOf,
} from "./access-paths.ts";
import type { Condition } from "./conditions.ts";
import { after, cursorFrom, valuesText } from "./keyset-cursor.ts";

export type ScanOptions = {
  readonly totalCount: number;
  /** Excludes rows that the offset would skip; the range has the remaining offset. A cursor in the range has precedence. */
  readonly from?: Condition | undefined;
  /** True if an index has the rows in order, so that they are not sorted. */
  readonly isInOrder?: boolean;
};

/** @throws {CursorError} */
export type IndexScan<Row> = (selection: Selection, range: Range, options: ScanOptions) => Found<Row>;

/** Up to this number, whole rows are read and skipped; beyond it, only their keys. */
const NEAR = 100;

export function createIndexScan<Row>(database: Database, listed: ListedTable): IndexScan<Row> {
  const { table, key, columns, joins = "" } = listed;
  const prepare = createStatementCache(database);

  return (selection, range, { totalCount, from, isInOrder = false }) => {
    const { order } = selection;
    const { limit, isWalk = false } = range;
    const offset = range.after === undefined ? range.offset : 0;
    const paths = inRange(accessPathsOf(selection), startOf(selection, range, from));
    const values = valuesOf(paths);
    const [only, ...others] = paths;
    if (isInOrder && offset < NEAR && !isWalk && only && others.length === 0) {
      const select = prepare(
        `SELECT ${columns} ${fromText(listed, only, joins)} ORDER BY ${orderText(order)} LIMIT +? OFFSET +?`,
      );
      return { rows: select.all(...values, limit, offset) as Row[], totalCount };
    }
    const { text, names } = pageText(listed, paths, order);
    const paged = names.map((name) => `page.${name}`);
    const walked = isWalk ? `, ${valuesText(paged)} AS "values"` : "";
    // Select the keys of the page first: whole rows are neither skipped nor sorted.
    const select = prepare(
      `SELECT ${columns}${walked} FROM (${text}) AS page
       CROSS JOIN ${table} USING (${key.join()}) ${joins} ORDER BY ${orderText(order)}`,
    );
    if (!isWalk) return { rows: select.all(...values, limit, offset) as Row[], totalCount };
    // Selects one more row than requested, which shows whether others follow.
    const rows = select.all(...values, limit + 1, offset) as (Row & { values: string })[];
    if (rows.length <= limit) return { rows, totalCount };
    const shown = rows.slice(0, limit);
    const last = present(shown.at(-1), "the last row of a page");
    return { rows: shown, totalCount, next: cursorFrom(order, last.values) };
  };
}

/** Returns where a page starts: after its cursor, or at the first row that is not excluded. */
export const startOf = (
  { order }: Selection,
  { after: cursor }: Range,
  from: Condition | undefined,
): Condition | undefined => (cursor === undefined ? from : after(order, cursor));
