/** Orders of rows, and how SQLite compares values. */
import type { SqlValue } from "../../../store/engine/database.ts";
import type { NamedTerm } from "../../orders.ts";
import type { Direction } from "../../page.ts";

/** `value` is SQL written in this program, never text of a request. */
export type SortTerm = { readonly value: string; readonly direction: Direction };

/** A term of the order of a list. */
export type OrderTerm = NamedTerm & SortTerm;

/** Adds the columns of the values to the terms of an order. */
export const termsOf = <Name extends string>(
  order: readonly NamedTerm<Name>[],
  fields: Readonly<Record<Name, { readonly column: string }>>,
): OrderTerm[] =>
  order.map((term) => {
    const { column } = fields[term.name];
    return { ...term, value: term.kind === "absence" ? `${column} IS NULL` : column };
  });

/** Values of the terms of an order, for a single row. */
export type OrderValues = readonly SqlValue[];

/** Compares rows as `ORDER BY` does. Supports `null`, numbers and texts. */
export function comparerOf(order: readonly SortTerm[]): (one: OrderValues, other: OrderValues) => number {
  const signs = order.map(({ direction }) => (direction === "asc" ? 1 : -1));
  return (one, other) => {
    for (let index = 0; index < signs.length; index++) {
      const compared = compareValues(one[index] ?? null, other[index] ?? null);
      if (compared !== 0) return compared * (signs[index] ?? 1);
    }
    return 0;
  };
}

/** Orders null before numbers, and numbers before texts. */
function compareValues(one: SqlValue, other: SqlValue): number {
  if (one === other) return 0;
  const [kind, otherKind] = [kindOf(one), kindOf(other)];
  if (kind !== otherKind) return kind - otherKind;
  if (typeof one === "string") return compareTexts(one, other as string);
  return (one as number) < (other as number) ? -1 : 1;
}

const kindOf = (value: SqlValue): number => (value === null ? 0 : typeof value === "string" ? 2 : 1);

/** Surrogates sort before some single UTF-16 units in JavaScript, but after them in UTF-8, by which SQLite compares. */
const TWO_UNITS = /[\ud800-\udfff]/;

function compareTexts(one: string, other: string): number {
  if (TWO_UNITS.test(one) || TWO_UNITS.test(other))
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return one < other ? -1 : 1;
}
