/**
 * Pages of transactions whose positions in the chain are in memory, in the order of a value index or of the chain. Rows are read by
 * their positions once the page is known.
 */

import { present } from "../../../platform/present.ts";
import { firstIndex } from "../../../platform/sorted.ts";
import type { Database, Statement } from "../../../store/engine/database.ts";
import { cursorValues } from "../../cursor.ts";
import type { Direction, Found, Range } from "../../page.ts";
import { type Condition, cursorFrom, indexed, type OrderTerm, valuesText } from "./conditions.ts";
import {
  bytesOf,
  type Kind,
  offsetAfter,
  pageOf,
  positionOf,
  SEQUENCES,
  type ValueIndex,
} from "./value-index.ts";

export type PositionPage = {
  readonly positions: readonly number[];
  readonly totalCount: number;
  /** True if no rows come after these. */
  readonly isLast: boolean;
};

/**
 * Plan "value index": all matching transactions are in a value index in the order of a column. Costs the rows of the page, and
 * a binary search for its start.
 *
 * @param order ends with the positions of rows, newest first
 * @throws {CursorError}
 */
export function pageByValue(
  valueIndex: ValueIndex,
  kind: Kind,
  order: readonly OrderTerm[],
  range: Range,
): PositionPage {
  const { direction } = present(order.at(-3), "the term of the value index");
  let { offset } = range;
  if (range.after !== undefined) {
    const position = positionAfter(order, range.after);
    const value = cursorValues(order, range.after).at(-3) ?? null;
    offset = offsetAfter(valueIndex, direction, bytesOf(kind, value === null ? null : `${value}`), position);
  }
  const totalCount = valueIndex.positions.length;
  const positions = pageOf(valueIndex, direction, offset, range.limit);
  return { positions, totalCount, isLast: offset + positions.length >= totalCount };
}

/**
 * Sorts positions in the order of the chain, and returns a page of them.
 *
 * @param count number of positions of all groups
 * @throws {CursorError}
 */
export function pageByPosition(
  groups: readonly Float64Array[],
  count: number,
  order: readonly OrderTerm[],
  range: Range,
): PositionPage {
  const [{ direction }, sequence] = order as readonly [OrderTerm, OrderTerm];
  // Sequences that run against the heights are reversed before rows are sorted as numbers, and again afterwards.
  const reversed = sequence.direction === direction ? (position: number) => position : backwards;
  const sorted = new Float64Array(count);
  let length = 0;
  for (const rows of groups) for (const position of rows) sorted[length++] = reversed(position);
  sorted.sort();
  if (direction === "desc") sorted.reverse();
  const offset =
    range.after === undefined
      ? range.offset
      : indexAfter(sorted, direction, reversed(positionAfter(order, range.after)));
  const positions = [...sorted.subarray(offset, offset + range.limit)].map(reversed);
  return { positions, totalCount: count, isLast: offset + positions.length >= count };
}

/** Returns the position with its sequence counted from the other end. */
const backwards = (position: number): number => position + SEQUENCES - 1 - 2 * (position % SEQUENCES);

function indexAfter(sorted: Float64Array, direction: Direction, position: number): number {
  return firstIndex(sorted.length, (index) => {
    const other = sorted[index] ?? 0;
    return direction === "asc" ? other > position : other < position;
  });
}

/**
 * Returns the position at the end of a cursor, for orders that end with the position in the chain.
 *
 * @throws {CursorError}
 */
function positionAfter(order: readonly OrderTerm[], cursor: string): number {
  const [height, sequence] = cursorValues(order, cursor).slice(-2);
  return positionOf(Number(height), Number(sequence));
}

/** Matches rows at one of the positions. */
export const isAt = (positions: readonly number[]): Condition => {
  const sql = `(height, sequence) IN (SELECT value / ${SEQUENCES}, value % ${SEQUENCES} FROM json_each(?))`;
  return indexed({ sql, values: [JSON.stringify(positions)] }, "few");
};

/** Reads the rows of pages by their positions. */
export class PositionReader<Row> {
  readonly #database: Database;
  readonly #from: string;
  readonly #select: Statement<Row>;

  constructor(database: Database, columns: string, joins: string) {
    this.#database = database;
    this.#from = `FROM (
      SELECT key AS position, value / ${SEQUENCES} AS height, value % ${SEQUENCES} AS sequence FROM json_each(?)
    ) AS page CROSS JOIN transactions USING (height, sequence) ${joins} ORDER BY position`;
    this.#select = database.prepare(`SELECT ${columns} ${this.#from}`);
  }

  /**
   * @param order order of the page
   * @param isWalk that of the range of the page
   */
  rowsOf(
    { positions, totalCount, isLast }: PositionPage,
    order: readonly OrderTerm[],
    isWalk?: boolean,
  ): Found<Row> {
    const last = positions.at(-1);
    const rows = this.#select.all(JSON.stringify(positions));
    if (!isWalk || isLast || last === undefined) return { rows, totalCount };
    const names = valuesText(order.map(({ value }) => value));
    const walked = this.#database.prepare<{ values: string }>(`SELECT ${names} AS "values" ${this.#from}`);
    const { values } = present(walked.get(JSON.stringify([last])), "the last row of a page");
    return { rows, totalCount, next: cursorFrom(order, values) };
  }
}
