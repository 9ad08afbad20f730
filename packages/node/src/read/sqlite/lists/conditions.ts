/** Conditions of filters, as SQL. */
import type { SqlValue } from "../../../store/engine/database.ts";
import { type Ends, endsOf } from "../../integers.ts";
import type { Integer, Interval } from "../../page.ts";

/** A test on a row with the values of its placeholders. */
export type Condition = {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** Number of rows that an index finds; absent if no index applies: then rows are tested one by one. */
  readonly finds?: Finds;
};

/**
 * Number of rows that an index finds: at most the rows of a block or a page (`few`), of a wallet (`some`) or of a type (`many`),
 * or a range of the key's order, which can be combined with any other share (`range`).
 */
export type Share = "few" | "some" | "many" | "range";

/** End of an order at which a range excludes rows. */
export type Side = "low" | "high";

export type Finds = {
  readonly share: Share;
  /** Side of a range; absent if both are excluded or the side does not matter. */
  readonly side?: Side;
  /** Columns that order the rows in the index; absent: the first column of the table's key. */
  readonly walk?: readonly string[];
  /** Another table that has the keys of the rows, and the condition on that table. */
  readonly through?: { readonly table: string; readonly sql: string };
  /** Wider condition for the index if it cannot express the exact one; each row is then also tested. */
  readonly wider?: { readonly sql: string; readonly values: readonly SqlValue[] };
};

/** Marks a condition as one that an index can look up. */
export const found = (condition: Condition, share: Share): Condition => ({ ...condition, finds: { share } });

/** A column to filter by, compared as text or as an integer. */
export type Field = {
  readonly column: string;
  readonly kind: "text" | "integer";
  /** Share of the rows that have one value. */
  readonly share?: Share | undefined;
  /** Columns of an index that has all rows in the order of this column; absent without such an index. */
  readonly walk?: readonly string[] | undefined;
};
export type Fields = Readonly<Record<string, Field>>;

export const text = (column: string, share?: Share) => ({ column, kind: "text", share }) as const;
export const integer = (column: string, walk?: readonly string[]) =>
  ({ column, kind: "integer", share: walk && "some", walk }) as const;

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
export function hasValue({ column, kind, share, walk }: Field, value: Integer | Interval): Condition {
  const finds = share && { finds: { share, ...(walk && { walk }) } };
  if (kind === "text") return { sql: `${column} = +?`, values: [`${value}`], ...finds };
  const ends = endsOf(value);
  if (!ends) return NEVER;
  if (typeof value === "object") return { ...within(column, ends), ...finds };
  return { sql: `${column} = +?`, values: [BigInt(value)], ...finds };
}

const within = (column: string, { low, high }: Ends): Condition =>
  allOf([
    ...(low === undefined ? [] : [{ sql: `${column} >= ?`, values: [low] }]),
    ...(high === undefined ? [] : [{ sql: `${column} <= ?`, values: [high] }]),
  ]);

export const allOf = (conditions: readonly Condition[]): Condition => joined(conditions, "AND", "TRUE");
export const anyOf = (conditions: readonly Condition[]): Condition => joined(conditions, "OR", "FALSE");

/** Matches rows whose column has one of the values. */
export const oneOf = (column: string, values: readonly string[]): Condition => ({
  sql: `${column} IN (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(values)],
});

/** A condition that no row satisfies. */
export const NEVER: Condition = { sql: "FALSE", values: [], finds: { share: "few" } };

const joined = (conditions: readonly Condition[], word: "AND" | "OR", none: string): Condition => ({
  sql: conditions.length === 0 ? none : conditions.map(({ sql }) => `(${sql})`).join(` ${word} `),
  values: conditions.flatMap(({ values }) => values),
});
