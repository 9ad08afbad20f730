/** Parts of statements that are the same in every SQL database: conditions, ranges of heights, and rows after a cursor. */
import type { NamedTerm, TermKind } from "./cursor.ts";
import type { Integer, Interval } from "./page.ts";
import type { Head } from "./port.ts";

/** A test on a row with the values of its placeholders. `sql` is a text of this program, never of a request. */
type Condition<Value> = { readonly sql: string; readonly values: readonly Value[] };

export const allOf = <Value>(conditions: readonly Condition<Value>[]): Condition<Value> =>
  joined(conditions, "AND", "TRUE");
export const anyOf = <Value>(conditions: readonly Condition<Value>[]): Condition<Value> =>
  joined(conditions, "OR", "FALSE");

const joined = <Value>(
  conditions: readonly Condition<Value>[],
  word: "AND" | "OR",
  none: string,
): Condition<Value> => ({
  sql: conditions.length === 0 ? none : conditions.map(({ sql }) => `(${sql})`).join(` ${word} `),
  values: conditions.flatMap(({ values }) => values),
});

/** A column to filter by, compared as text or as an integer. */
export type Field = { readonly column: string; readonly kind: "text" | "integer" };

/** Values by the name of a field; absent fields do not filter. */
type FilterOf<Fields extends Readonly<Record<string, Field>>> = {
  readonly [Name in keyof Fields]?: Fields[Name]["kind"] extends "text" ? string : Integer | Interval;
};

/** Returns the conditions of a filter. Members that are not fields are ignored. */
export const conditionsOf = <Fields extends Readonly<Record<string, Field>>, Condition>(
  fields: Fields,
  filter: FilterOf<Fields>,
  hasValue: (field: Fields[keyof Fields], value: Integer | Interval) => Condition,
): Condition[] =>
  (Object.keys(fields) as (keyof Fields & string)[]).flatMap((name) => {
    const value: Integer | Interval | undefined = filter[name];
    return value === undefined ? [] : [hasValue(fields[name], value)];
  });

/** A term of an order with its SQL, and its value in a row. */
type TermAt<Value> = NamedTerm & { readonly value: string; readonly at: Value | null };

/** Matches the rows after a row in an order. */
export function rowsAfter<Value>(
  order: readonly TermAt<Value>[],
  placeholderOf: (kind: TermKind) => string,
): Condition<Value> {
  const [first, ...others] = order as [TermAt<Value>, ...TermAt<Value>[]];
  const operator = first.direction === "asc" ? ">" : "<";
  // With one direction, an index is entered exactly at the row, however many rows are equal in the first term.
  if (order.every(({ direction, at }) => direction === first.direction && at !== null)) {
    return {
      sql: `(${order.map(({ value }) => value).join()}) ${operator} (${order.map(({ kind }) => placeholderOf(kind)).join()})`,
      values: order.map(({ at }) => at as Value),
    };
  }
  /** Null is only equal to null: an earlier term of an order separates absent values from others. */
  const compared = ({ value, kind, at }: TermAt<Value>, operator: string): Condition<Value> =>
    at === null
      ? { sql: "FALSE", values: [] }
      : { sql: `(${value}) ${operator} ${placeholderOf(kind)}`, values: [at] };
  const isBehind = (term: TermAt<Value>) => compared(term, term.direction === "asc" ? ">" : "<");
  const isEqual = (term: TermAt<Value>) =>
    term.at === null ? { sql: `(${term.value}) IS NULL`, values: [] } : compared(term, "=");
  const [last = first, ...before] = [first, ...others].reverse();
  const isAfter = before.reduce(
    (follows, term) => anyOf([isBehind(term), allOf([isEqual(term), follows])]),
    isBehind(last),
  );
  // The first term limits the range of the index that is read.
  return first.at === null ? isAfter : allOf([compared(first, `${operator}=`), isAfter]);
}

/** Lowest and highest height, both included; the chain has no gaps. Empty if the first is above the last. */
export type Heights = { readonly low: number; readonly high: number };

export const countOf = ({ low, high }: Heights): number => Math.max(0, high - low + 1);

type HeightFilter = { readonly height?: Integer | Interval; readonly timestamp?: Integer | Interval };

export const isOfHeights = ({ height, timestamp }: HeightFilter): boolean =>
  height !== undefined || timestamp !== undefined;

/** Returns the network times of a filter: of its first block, and after its last block. */
export function timesOf({ timestamp }: HeightFilter): { readonly from?: number; readonly above?: number } {
  const { from, to } = numbersOf(timestamp);
  return { ...(from !== undefined && { from }), ...(to !== undefined && { above: to + 1 }) };
}

/**
 * Converts heights and times of a filter to a range of heights: each block is later than its parent.
 *
 * @param from height of the first block at or after `timesOf(filter).from`, if that is set
 * @param above the same for `timesOf(filter).above`
 */
export function heightsBetween(
  head: Head,
  { height }: HeightFilter,
  from = 1,
  above = head.height + 1,
): Heights {
  const heights = numbersOf(height);
  return {
    low: Math.ceil(Math.max(1, heights.from ?? 1, from)),
    high: Math.floor(Math.min(head.height, heights.to ?? head.height, above - 1)),
  };
}

const numbersOf = (wanted: Integer | Interval | undefined): { from?: number; to?: number } => {
  if (wanted === undefined) return {};
  const { from, to } = typeof wanted === "object" ? wanted : { from: wanted, to: wanted };
  return { ...(from !== undefined && { from: Number(from) }), ...(to !== undefined && { to: Number(to) }) };
};
