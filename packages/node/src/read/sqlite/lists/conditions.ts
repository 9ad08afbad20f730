/** Conditions of filters as SQL, and how an index can look them up. */
import { hasId, type IdIndex } from "../../../store/chain/id-levels.ts";
import type { SqlValue } from "../../../store/engine/database.ts";
import { type Ends, endsOf, type Integer, type Interval } from "../../page.ts";
import type { Head } from "../../port.ts";
import { allOf, type Heights, heightsBetween, type isOfHeights, timesOf } from "../../sql.ts";

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

/** A column to filter by, compared as text or as an integer. */
export type Field = {
  readonly column: string;
  readonly kind: "text" | "integer";
  /** Selectivity of one value; absent if no index has the column. */
  readonly selectivity?: Selectivity | undefined;
  /** Columns of an index that has all rows in the order of this column; absent without such an index. */
  readonly sortedBy?: readonly string[] | undefined;
};
export type Fields = Readonly<Record<string, Field>>;

export const text = (column: string, selectivity?: Selectivity) =>
  ({ column, kind: "text", selectivity }) as const;
export const integer = (column: string, sortedBy?: readonly string[]) =>
  ({ column, kind: "integer", selectivity: sortedBy && "some", sortedBy }) as const;

/** Values by the name of a field; absent fields do not filter. */
export type FilterOf<F extends Fields> = {
  readonly [Name in keyof F]?: F[Name]["kind"] extends "text" ? string : Integer | Interval;
};

/** Returns the conditions of a filter. Members that are not fields are ignored. */
export const conditionsOf = <F extends Fields>(fields: F, filter: FilterOf<F>): Condition[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const value = filter[name];
    return value === undefined ? [] : [hasValue(field, value)];
  });

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
