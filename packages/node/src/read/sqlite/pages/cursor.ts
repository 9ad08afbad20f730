/**
 * Cursors in an ordered list: a page can begin after a row, regardless of rows that were added before it. A cursor is
 * JSON: a name of the order, then the row's values of the order's terms. SQLite reads and writes it as text, so that
 * integers beyond 2^53 stay exact.
 */

import { hash } from "node:crypto";
import { present } from "../../../platform/present.ts";
import { CursorError } from "../../errors.ts";
import { isInteger64 } from "../../integers.ts";
import { allOf, anyOf, type Condition } from "./conditions.ts";
import type { OrderTerm, OrderValues } from "./order.ts";

/** Returns the SQL of the cursor of a row whose order values have these names. */
export const cursorOf = (order: readonly OrderTerm[], names: readonly string[]): string =>
  `json_array('${nameOf(order)}', ${names.join()})`;

/** Returns the cursor of a row with these order values. */
export function cursorAt(order: readonly OrderTerm[], values: OrderValues): string {
  const members = values.map((value) => (typeof value === "string" ? JSON.stringify(value) : String(value)));
  return `["${nameOf(order)}",${members.join()}]`;
}

/**
 * Matches rows after a cursor.
 *
 * @throws {CursorError}
 */
export const after = (order: readonly OrderTerm[], cursor: string): Condition =>
  isBeyond(order, cursor, cursorValues(order, cursor));

/**
 * Matches rows before a cursor.
 *
 * @throws {CursorError}
 */
export const before = (order: readonly OrderTerm[], cursor: string): Condition =>
  isBeyond(
    order.map(({ value, direction }) => ({ value, direction: direction === "asc" ? "desc" : "asc" })),
    cursor,
    cursorValues(order, cursor),
  );

/** @param known order values of the row at the cursor */
function isBeyond(order: readonly OrderTerm[], cursor: string, known: readonly unknown[]): Condition {
  const at = (index: number): Condition => ({ sql: `json_extract(?, '$[${index + 1}]')`, values: [cursor] });
  const [{ direction }] = order as [OrderTerm];
  // With one direction, an index is entered exactly at the cursor, however many rows are equal in the first term.
  if (order.every((term) => term.direction === direction) && !known.includes(null)) {
    const values = order.map(({ value }) => value).join();
    const cursors = order.map((_, index) => at(index));
    return {
      sql: `(${values}) ${direction === "asc" ? ">" : "<"} (${cursors.map(({ sql }) => sql).join()})`,
      values: cursors.flatMap(({ values }) => values),
    };
  }
  const term = (index: number) => present(order[index], "a term of the order");
  const compared = (index: number, operator: string): Condition => {
    const { sql, values } = at(index);
    return { sql: `(${term(index).value}) ${operator} ${sql}`, values };
  };
  const isBehind = (index: number) => compared(index, term(index).direction === "asc" ? ">" : "<");
  const isNotBefore = (index: number) => compared(index, term(index).direction === "asc" ? ">=" : "<=");
  const last = order.length - 1;
  let isAfter = isBehind(last);
  for (let index = last - 1; index >= 0; index--) {
    isAfter = anyOf([isBehind(index), allOf([compared(index, "IS"), isAfter])]);
  }
  // The first term alone bounds the range of an index that is read.
  return allOf([isNotBefore(0), isAfter]);
}

/**
 * Returns the order values of the row at a cursor; integers beyond 2^53 are rounded.
 *
 * @throws {CursorError}
 */
export function cursorValues(order: readonly OrderTerm[], cursor: string): unknown[] {
  const members = parse(cursor);
  if (!isCursor(order, members)) throw new CursorError();
  return members.slice(1);
}

/** Returns a short name that differs for different orders. */
const nameOf = (order: readonly OrderTerm[]): string =>
  hash("sha1", order.map(({ value, direction }) => `${value} ${direction}`).join()).slice(0, 8);

function isCursor(order: readonly OrderTerm[], cursor: unknown): cursor is unknown[] {
  if (!Array.isArray(cursor) || cursor.length !== order.length + 1 || cursor[0] !== nameOf(order))
    return false;
  return cursor.every((value) => value === null || typeof value === "string" || typeof value === "number");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, requireIntegers as never);
  } catch {
    return undefined;
  }
}

/** SQLite orders rows by 64-bit integers. It writes no other numbers into a cursor, and would compare others as floats. */
function requireIntegers(_name: string, value: unknown, { source = "" }: { source?: string }): unknown {
  if (typeof value === "number" && !isInteger64Text(source)) throw new CursorError();
  return value;
}

const isInteger64Text = (text: string): boolean => /^-?\d{1,19}$/.test(text) && isInteger64(BigInt(text));
