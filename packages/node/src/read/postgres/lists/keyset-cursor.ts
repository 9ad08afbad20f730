/** Orders of rows, and keyset cursors in them: a condition on the order values at a cursor matches the rows after it. */
import type { PostgresValue } from "../../../postgres/connection.ts";
import type { NamedTerm } from "../../cursor.ts";
import { type CursorValue, cursorValues, type RowValue } from "../../cursor.ts";
import type { Direction } from "../../page.ts";
import { bytesOfHex, hex, nullable, orNull } from "../row-text.ts";
import { bytesOf } from "../texts.ts";
import { allOf, anyOf, type Condition, NEVER } from "./conditions.ts";

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
export function after(order: readonly OrderTerm[], cursor: string): Condition {
  const values = cursorValues(order, cursor);
  const terms = order.map((term, index) => ({ ...term, at: toPostgres(term, values[index] ?? null) }));
  const [first] = terms;
  // If all terms have one direction, an index scan starts exactly at the cursor, even if many rows are equal in the
  // first term.
  if (first && terms.every(({ direction, at }) => direction === first.direction && at !== null)) {
    return {
      sql: `(${terms.map(({ value }) => value).join()}) ${OPERATORS[first.direction]}
        (${terms.map(({ kind }) => PLACEHOLDERS[kind]).join()})`,
      values: terms.map(({ at }) => at),
    };
  }
  const follows = terms.reduceRight<Condition>(
    (rest, term) => anyOf([compared(term, OPERATORS[term.direction]), allOf([isEqual(term), rest])]),
    NEVER,
  );
  // The first term limits the range of the index that is read.
  const isInRange = first && first.at !== null ? [compared(first, `${OPERATORS[first.direction]}=`)] : [];
  return allOf([...isInRange, follows]);
}

const OPERATORS: Readonly<Record<Direction, string>> = { asc: ">", desc: "<" };
const PLACEHOLDERS: Readonly<Record<OrderTerm["kind"], string>> = {
  absence: "?::bigint",
  integer: "?::bigint",
  text: "?",
  bytes: "?::bytea",
};

type TermAt = OrderTerm & { readonly at: PostgresValue };

/** Null is only equal to null: an earlier term of an order separates absent values from others. */
const compared = ({ value, kind, at }: TermAt, operator: string): Condition =>
  at === null ? NEVER : { sql: `${value} ${operator} ${PLACEHOLDERS[kind]}`, values: [at] };

const isEqual = (term: TermAt): Condition =>
  term.at === null ? { sql: `${term.value} IS NULL`, values: [] } : compared(term, "=");

function toPostgres({ kind }: OrderTerm, value: CursorValue): PostgresValue {
  if (value === null) return null;
  return kind === "bytes" ? bytesOf(`${value}`) : `${value}`;
}
