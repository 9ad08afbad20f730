/** Cursors of rows, and conditions that match the rows after or before another one. */

import { present } from "../../../platform/present.ts";
import { cursorAt, cursorValues } from "../../cursor.ts";
import { allOf, anyOf, type Condition } from "./conditions.ts";
import type { OrderTerm, OrderValues } from "./order.ts";

/**
 * Returns SQL of the order values of a row, from which `cursorFrom` makes its cursor. Integers are text, so that those beyond
 * 2^53 stay exact.
 *
 * @param names names of the order values
 */
export const valuesText = (names: readonly string[]): string =>
  `json_array(${names.map((name) => `CAST(${name} AS TEXT)`).join()})`;

/** @param values result of `valuesText` */
export const cursorFrom = (order: readonly OrderTerm[], values: string): string =>
  cursorAt(order, JSON.parse(values) as (string | null)[]);

/**
 * Matches rows after a cursor.
 *
 * @throws {CursorError}
 */
export const after = (order: readonly OrderTerm[], cursor: string): Condition =>
  isBeyond(order, cursorValues(order, cursor));

/** Matches rows before the row with these order values. */
export const before = (order: readonly OrderTerm[], values: OrderValues): Condition =>
  isBeyond(
    order.map((term) => ({ ...term, direction: term.direction === "asc" ? "desc" : "asc" })),
    values,
  );

function isBeyond(order: readonly OrderTerm[], known: OrderValues): Condition {
  const [{ direction }] = order as [OrderTerm];
  // With one direction, an index is entered exactly at the row, however many rows are equal in the first term.
  if (order.every((term) => term.direction === direction) && !known.includes(null)) {
    const values = order.map(({ value }) => value).join();
    const operator = direction === "asc" ? ">" : "<";
    return { sql: `(${values}) ${operator} (${order.map(() => "+?").join()})`, values: known };
  }
  const term = (index: number) => present(order[index], "a term of the order");
  const compared = (index: number, operator: string): Condition => ({
    sql: `(${term(index).value}) ${operator} +?`,
    values: [known[index] ?? null],
  });
  const isBehind = (index: number) => compared(index, term(index).direction === "asc" ? ">" : "<");
  const isNotBefore = (index: number) => compared(index, term(index).direction === "asc" ? ">=" : "<=");
  const last = order.length - 1;
  let isAfter = isBehind(last);
  for (let index = last - 1; index >= 0; index--) {
    isAfter = anyOf([isBehind(index), allOf([compared(index, "IS"), isAfter])]);
  }
  // The first term limits the range of the index that is read.
  return allOf([isNotBefore(0), isAfter]);
}
