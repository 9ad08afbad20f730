/**
 * By index: rows are walked over in the order of an index from where the page may begin, or the few that an index finds are
 * sorted, in one statement. Costs the rows between there and the end of the page where an index has the order, else all
 * that are found.
 */
import type { Database } from "../../../store/engine/database.ts";
import type { Found, Range } from "../../page.ts";
import type { Condition } from "../pages/conditions.ts";
import { after, cursorOf } from "../pages/cursor.ts";
import {
  alternativesOf,
  createPreparer,
  fromText,
  inRange,
  type ListedTable,
  orderText,
  pageText,
  type Selection,
  valuesOf,
} from "../pages/selection.ts";

export type WalkOptions = {
  readonly totalCount: number;
  /** Leaves out rows that the offset would skip; what remains of it is in the range. A cursor in the range comes first. */
  readonly from?: Condition | undefined;
  /** Whether an index has them in their order, so that none are sorted. */
  readonly isInOrder?: boolean;
};

/** @throws {CursorError} */
export type ByIndex<Row> = (selection: Selection, range: Range, options: WalkOptions) => Found<Row>;

/** Whole rows may be dragged along for as many as this. */
const NEAR = 100;

export function createByIndex<Row>(database: Database, listed: ListedTable): ByIndex<Row> {
  const { table, key, columns, joins = "" } = listed;
  const prepare = createPreparer(database);

  return (selection, range, { totalCount, from, isInOrder = false }) => {
    const { order } = selection;
    const { limit, isWalk = false } = range;
    const offset = range.after === undefined ? range.offset : 0;
    const found = inRange(alternativesOf(selection), startOf(selection, range, from));
    const values = valuesOf(found);
    const [only, ...others] = found;
    if (isInOrder && offset < NEAR && !isWalk && only && others.length === 0) {
      const select = prepare(
        `SELECT ${columns} ${fromText(listed, only, joins)} ORDER BY ${orderText(order)} LIMIT +? OFFSET +?`,
      );
      return { rows: select.all(...values, limit, offset) as Row[], totalCount };
    }
    const { text, names } = pageText(listed, found, order);
    const paged = names.map((name) => `page.${name}`);
    const cursor = isWalk ? `, ${cursorOf(order, paged)} AS cursor` : "";
    // The keys of the page first: what is skipped or sorted does not drag whole rows along.
    const select = prepare(
      `SELECT ${columns}${cursor} FROM (${text}) AS page
       CROSS JOIN ${table} USING (${key.join()}) ${joins} ORDER BY ${orderText(order)}`,
    );
    if (!isWalk) return { rows: select.all(...values, limit, offset) as Row[], totalCount };
    // One more than is shown tells whether there are others.
    const rows = select.all(...values, limit + 1, offset) as (Row & { cursor: string })[];
    if (rows.length <= limit) return { rows, totalCount };
    const shown = rows.slice(0, limit);
    return { rows: shown, totalCount, next: shown.at(-1)!.cursor };
  };
}

/** Where a page begins: behind a cursor, or where rows begin that are not left out. */
export const startOf = (
  { order }: Selection,
  { after: cursor }: Range,
  from: Condition | undefined,
): Condition | undefined => (cursor === undefined ? from : after(order, cursor));
