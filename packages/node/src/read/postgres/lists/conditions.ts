/**
 * Conditions of filters, as SQL with a `?` for each value; orders of rows, and keyset cursors in them: a condition on the order values
 * at a cursor matches the rows after it.
 */
import type { PostgresValue } from "../../../postgres/connection.ts";
import { type CursorValue, cursorValues, type NamedTerm, type RowValue } from "../../cursor.ts";
import { endsOf, type Integer, type Interval } from "../../page.ts";
import { allOf, type Field, rowsAfter } from "../../sql.ts";
import { bytesOf, bytesOfHex, hex, nullable, orNull } from "../row-text.ts";

/** `sql` is a text of this program, never of a request. */
export type Condition = { readonly sql: string; readonly values: readonly PostgresValue[] };

/** A condition that no row satisfies. */
export const NEVER: Condition = { sql: "FALSE", values: [] };

export const text = (column: string) => ({ column, kind: "text" }) as const;
export const integer = (column: string) => ({ column, kind: "integer" }) as const;

/** Matches rows whose column has a value, or a value within an interval. */
export const hasValue = ({ column, kind }: Field, value: Integer | Interval): Condition =>
  kind === "text" ? isText(column, `${value}`) : isInteger(column, value);

/** Returns whether a text can be a value of a column: PostgreSQL text cannot contain U+0000. */
export const isStorable = (value: string): boolean => !value.includes("\0");

export const isText = (column: string, value: string): Condition =>
  isStorable(value) ? { sql: `${column} = ?`, values: [value] } : NEVER;

/** Matches rows whose column has one of the values. */
export const isOneOf = (column: string, values: readonly string[]): Condition => ({
  sql: `${column} = ANY (?::text[])`,
  values: [values.filter(isStorable)],
});

export function isInteger(column: string, wanted: Integer | Interval): Condition {
  const ends = endsOf(wanted);
  if (!ends) return NEVER;
  if (typeof wanted !== "object") return { sql: `${column} = ?::bigint`, values: [`${BigInt(wanted)}`] };
  const { low, high } = ends;
  return allOf([
    ...(low === undefined ? [] : [{ sql: `${column} >= ?::bigint`, values: [`${low}`] }]),
    ...(high === undefined ? [] : [{ sql: `${column} <= ?::bigint`, values: [`${high}`] }]),
  ]);
}

/** Numbers the placeholders of a statement. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => `$${++count}`);
}

/** `value` is SQL of this program. */
export type OrderTerm = NamedTerm & { readonly value: string };

/** Adds the columns of the values to the terms of an order. */
export const termsOf = <Name extends string>(
  order: readonly NamedTerm<Name>[],
  fields: Readonly<Record<Name, { readonly column: string }>>,
): OrderTerm[] =>
  order.map((term) => {
    const { column } = fields[term.name];
    return { ...term, value: term.kind === "absence" ? `(${column} IS NULL)::integer` : column };
  });

/** Names of the columns of a page that contain the order values of its rows. */
export const valueNames = (order: readonly OrderTerm[]): string[] => order.map((_, index) => `order${index}`);

/** Returns the order by these columns. */
export const orderText = (order: readonly OrderTerm[]): string =>
  order.map(({ direction }, index) => `order${index} ${direction}`).join(", ");

/** Returns SQL of the texts of these columns, which `valuesOfTexts` converts. */
export const valueTexts = (order: readonly OrderTerm[]): string[] =>
  order.map(({ kind }, index) => nullable(kind === "bytes" ? hex(`order${index}`) : `order${index}::text`));

export const valuesOfTexts = (order: readonly OrderTerm[], texts: readonly string[]): RowValue[] =>
  order.map(({ kind }, index) => {
    const text = orNull(texts[index] ?? "");
    return text !== null && kind === "bytes" ? bytesOfHex(text) : text;
  });

/**
 * Matches rows after a cursor.
 *
 * @throws {CursorError}
 */
export const after = (order: readonly OrderTerm[], cursor: string): Condition => {
  const values = cursorValues(order, cursor);
  return rowsAfter(
    order.map((term, index) => ({ ...term, at: toPostgres(term, values[index] ?? null) })),
    (kind) => PLACEHOLDERS[kind],
  );
};

const PLACEHOLDERS: Readonly<Record<OrderTerm["kind"], string>> = {
  absence: "?::bigint",
  integer: "?::bigint",
  text: "?",
  bytes: "?::bytea",
};

function toPostgres({ kind }: OrderTerm, value: CursorValue): PostgresValue {
  if (value === null) return null;
  return kind === "bytes" ? bytesOf(`${value}`) : `${value}`;
}
