/** Transactions by their positions in the chain. */
import { present } from "../../../platform/present.ts";
import type { Database } from "../../../store/engine/database.ts";
import { cursorValues } from "../../cursor.ts";
import type { Found } from "../../page.ts";
import { cursorFrom, type OrderTerm, valuesText } from "./keyset-cursor.ts";
import { positionOf, SEQUENCES } from "./value-index.ts";

export type PageOfPositions = {
  readonly positions: readonly number[];
  readonly totalCount: number;
  /** True if no rows come after these. */
  readonly isLast: boolean;
};

/**
 * Returns the position at the end of a cursor, for orders that end with the position in the chain.
 *
 * @throws {CursorError}
 */
export function positionAfter(order: readonly OrderTerm[], cursor: string): number {
  const [height, sequence] = cursorValues(order, cursor).slice(-2);
  return positionOf(Number(height), Number(sequence));
}

/** Reads the rows of a page. `order` is the order of the page; `isWalk` is that of its `Range`. */
export type RowsAt<Row> = (
  page: PageOfPositions,
  order: readonly OrderTerm[],
  isWalk?: boolean,
) => Found<Row>;

export function createRowsAt<Row>(database: Database, columns: string, joins: string): RowsAt<Row> {
  const from = `FROM (
      SELECT key AS position, value / ${SEQUENCES} AS height, value % ${SEQUENCES} AS sequence FROM json_each(?)
    ) AS page CROSS JOIN transactions USING (height, sequence) ${joins} ORDER BY position`;
  const select = database.prepare<Row>(`SELECT ${columns} ${from}`);
  return ({ positions, totalCount, isLast }, order, isWalk) => {
    const last = positions.at(-1);
    const rows = select.all(JSON.stringify(positions));
    if (!isWalk || isLast || last === undefined) return { rows, totalCount };
    const names = order.map(({ value }) => value);
    const walked = database.prepare<{ values: string }>(`SELECT ${valuesText(names)} AS "values" ${from}`);
    const { values } = present(walked.get(JSON.stringify([last])), "the last row of a page");
    return { rows, totalCount, next: cursorFrom(order, values) };
  };
}
