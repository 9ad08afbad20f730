/** What a filter asks of rows, as SQL. */
import type { SqlValue } from "../../../store/engine/database.ts";
import type { Integer, Interval } from "../../page.ts";

/** A test on a row with the values of its placeholders. */
export type Condition = { readonly sql: string; readonly values: readonly SqlValue[] };

/** A column that may be filtered by: as text, or compared as an integer. */
export type Field = { readonly column: string; readonly kind: "text" | "integer" };
export type Fields = Readonly<Record<string, Field>>;

export const text = (column: string) => ({ column, kind: "text" }) as const;
export const integer = (column: string) => ({ column, kind: "integer" }) as const;

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
export function hasValue({ column, kind }: Field, value: Integer | Interval): Condition {
  if (typeof value === "object") return within(column, value);
  return { sql: `${column} = +?`, values: [kind === "text" ? `${value}` : BigInt(value)] };
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
export const NEVER: Condition = { sql: "FALSE", values: [] };

const joined = (conditions: readonly Condition[], word: "AND" | "OR", none: string): Condition => ({
  sql: conditions.length === 0 ? none : conditions.map(({ sql }) => `(${sql})`).join(` ${word} `),
  values: conditions.flatMap(({ values }) => values),
});
