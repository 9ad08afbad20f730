/**
 * Conditions of filters as SQL, and how an index can look them up. Orders of rows, and keyset cursors in them: the cursor of a row
 * contains its order values, and a condition on these values matches the rows after it, or before it.
 */
import { hasId, type IdIndex } from "../../../store/chain/id-levels.ts";
import type { SqlValue } from "../../../store/engine/database.ts";
import { cursorAt, cursorValues, type NamedTerm } from "../../cursor.ts";
import { type Direction, type Ends, endsOf, type Integer, type Interval } from "../../page.ts";
import type { Head } from "../../port.ts";
import {
  allOf,
  type Heights,
  heightsBetween,
  type isOfHeights,
  rowsAfter,
  type Field as SqlField,
  timesOf,
} from "../../sql.ts";

/** A test on a row with the values of its placeholders. */
export type Condition = {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** Lookup in an index; absent if no index applies: then rows are tested one by one. */
  readonly index?: IndexLookup;
};

/**
 * Number of rows that an index finds: at most the rows of a block or a page (`few`), of a wallet (`some`) or of a type (`many`),
 * or a range of the key's order, which can be combined with any other condition (`range`).
 */
type Selectivity = "few" | "some" | "many" | "range";

/** End of an order at which a range excludes rows. */
export type Side = "low" | "high";

type IndexLookup = {
  readonly selectivity: Selectivity;
  /** Side of a range; absent if both are excluded or the side does not matter. */
  readonly side?: Side;
  /** Columns that order the rows in the index; absent: the first column of the table's key. */
  readonly sortedBy?: readonly string[];
  /** Another table that has the keys of the rows, and the condition on that table. */
  readonly through?: { readonly table: string; readonly sql: string };
  /** Wider condition for the index if it cannot express the exact one; each row is then also tested. */
  readonly wider?: { readonly sql: string; readonly values: readonly SqlValue[] };
};

/** Marks a condition as one that an index can look up. */
export const indexed = (condition: Condition, selectivity: Selectivity): Condition => ({
  ...condition,
  index: { selectivity },
});

/** Returns the condition that a block or a transaction has an id. */
export function identified(index: IdIndex, id: string): Condition {
  const condition = hasId(index, id);
  return condition ? indexed(condition, "few") : NEVER;
}

/** A column to filter by, and its indexes. */
export type Field = SqlField & {
  /** Selectivity of one value; absent if no index has the column. */
  readonly selectivity?: Selectivity | undefined;
  /** Columns of an index that has all rows in the order of this column; absent without such an index. */
  readonly sortedBy?: readonly string[] | undefined;
};

export const text = (column: string, selectivity?: Selectivity) =>
  ({ column, kind: "text", selectivity }) as const;
export const integer = (column: string, sortedBy?: readonly string[]) =>
  ({ column, kind: "integer", selectivity: sortedBy && "some", sortedBy }) as const;

/** Matches rows whose column has a value, or a value within an interval. */
export function hasValue(
  { column, kind, selectivity, sortedBy }: Field,
  value: Integer | Interval,
): Condition {
  const lookup = selectivity && { index: { selectivity, ...(sortedBy && { sortedBy }) } };
  if (kind === "text") return { sql: `${column} = +?`, values: [`${value}`], ...lookup };
  const ends = endsOf(value);
  if (!ends) return NEVER;
  if (typeof value === "object") return { ...within(column, ends), ...lookup };
  return { sql: `${column} = +?`, values: [BigInt(value)], ...lookup };
}

const within = (column: string, { low, high }: Ends): Condition =>
  allOf([
    ...(low === undefined ? [] : [{ sql: `${column} >= ?`, values: [low] }]),
    ...(high === undefined ? [] : [{ sql: `${column} <= ?`, values: [high] }]),
  ]);

/** Matches rows whose column has one of the values. */
export const oneOf = (column: string, values: readonly string[]): Condition => ({
  sql: `${column} IN (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(values)],
});

/** A condition that no row satisfies. */
export const NEVER: Condition = { sql: "FALSE", values: [], index: { selectivity: "few" } };

/** Converts heights and times of a filter to a range of heights. */
export function heightsOf(
  head: Head,
  filter: Parameters<typeof isOfHeights>[0],
  heightAt: (time: number) => number,
): Heights {
  const { from, above } = timesOf(filter);
  return heightsBetween(
    head,
    filter,
    from === undefined ? from : heightAt(from),
    above === undefined ? above : heightAt(above),
  );
}

/** Rows at a single height are in the order of the rest of the key, in either direction of heights. */
export const betweenHeights = ({ low, high }: Heights): Condition =>
  low === high
    ? indexed({ sql: "height = +?", values: [low] }, "few")
    : indexed({ sql: "height BETWEEN ? AND ?", values: [low, high] }, "range");

/** Returns the range as two conditions, one for each end, by which an index is entered. */
export const heightConditions = ({ low, high }: Heights): Condition[] =>
  low === high
    ? [betweenHeights({ low, high })]
    : [
        { sql: "height >= ?", values: [low], index: { selectivity: "range", side: "low" } },
        { sql: "height <= ?", values: [high], index: { selectivity: "range", side: "high" } },
      ];

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

const isBeyond = (order: readonly OrderTerm[], values: OrderValues): Condition =>
  rowsAfter(
    order.map((term, index) => ({ ...term, at: values[index] ?? null })),
    () => "+?",
  );

/** Compares rows as `ORDER BY` of SQLite does. Supports `null`, numbers and texts. */
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
