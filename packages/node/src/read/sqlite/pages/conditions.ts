/** What a filter asks of rows, as SQL. */
import type { SqlValue } from "../../../store/engine/database.ts";
import type { Integer, Interval } from "../../page.ts";

/** A test on a row with the values of its placeholders. */
export type Condition = {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** How an index finds the rows that meet it; absent: they are searched among others. */
  readonly finds?: Finds;
};

/**
 * How many rows an index finds: no more than a block or a page has (`few`); those of a wallet (`some`); those of a type
 * (`many`); or a part of the key's order, which helps beside any of them (`range`).
 */
export type Share = "few" | "some" | "many" | "range";

/** The end of an order that a range leaves rows out at. */
export type Side = "low" | "high";

export type Finds = {
  readonly share: Share;
  /** Of a range; absent: both, or it does not matter. */
  readonly side?: Side;
  /** Columns in whose order the index has the rows; absent: the first of the table's key. */
  readonly walk?: readonly string[];
  /** A table that has their keys, and what is asked of it instead. */
  readonly through?: { readonly table: string; readonly sql: string };
  /** What the index is asked for where it finds others too: then each row is tested besides. */
  readonly wider?: { readonly sql: string; readonly values: readonly SqlValue[] };
};

/** The same condition, for which an index finds rows. */
export const found = (condition: Condition, share: Share): Condition => ({ ...condition, finds: { share } });

/** A column that may be filtered by: as text, or compared as an integer. */
export type Field = {
  readonly column: string;
  readonly kind: "text" | "integer";
  /** Of the rows that have one value. */
  readonly share?: Share | undefined;
  /** Where an index has all rows in the order of the column: what it has them in the order of. */
  readonly walk?: readonly string[] | undefined;
};
export type Fields = Readonly<Record<string, Field>>;

export const text = (column: string, share?: Share) => ({ column, kind: "text", share }) as const;
export const integer = (column: string, walk?: readonly string[]) =>
  ({ column, kind: "integer", share: walk && "some", walk }) as const;

/** Values by the name of a field; what is absent does not filter. */
export type FilterOf<F extends Fields> = {
  readonly [Name in keyof F]?: F[Name]["kind"] extends "text" ? string : Integer | Interval;
};

/** The conditions that a filter asks for. Members of it that are no field are left alone. */
export const conditionsOf = <F extends Fields>(fields: F, filter: FilterOf<F>): Condition[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const value = filter[name];
    return value === undefined ? [] : [hasValue(field, value)];
  });

/** That a column has a value, or one within an interval. */
export function hasValue({ column, kind, share, walk }: Field, value: Integer | Interval): Condition {
  const finds = share && { finds: { share, ...(walk && { walk }) } };
  if (typeof value === "object") return { ...within(column, value), ...finds };
  return { sql: `${column} = +?`, values: [kind === "text" ? `${value}` : BigInt(value)], ...finds };
}

export function within(column: string, { from, to }: Interval): Condition {
  const ends: Condition[] = [];
  if (from !== undefined) ends.push({ sql: `${column} >= ?`, values: [BigInt(from)] });
  if (to !== undefined) ends.push({ sql: `${column} <= ?`, values: [BigInt(to)] });
  return allOf(ends);
}

export const allOf = (conditions: readonly Condition[]): Condition => joined(conditions, "AND", "TRUE");
export const anyOf = (conditions: readonly Condition[]): Condition => joined(conditions, "OR", "FALSE");

/** That a column is one of the values. */
export const oneOf = (column: string, values: readonly string[]): Condition => ({
  sql: `${column} IN (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(values)],
});

/** A condition that no row meets. */
export const NEVER: Condition = { sql: "FALSE", values: [], finds: { share: "few" } };

const joined = (conditions: readonly Condition[], word: "AND" | "OR", none: string): Condition => ({
  sql: conditions.length === 0 ? none : conditions.map(({ sql }) => `(${sql})`).join(` ${word} `),
  values: conditions.flatMap(({ values }) => values),
});
