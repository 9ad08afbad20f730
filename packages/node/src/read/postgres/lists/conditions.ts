/** Conditions of filters, as SQL with a `?` for each value. */
import type { PostgresValue } from "../../../postgres/connection.ts";
import { endsOf, type Integer, type Interval } from "../../page.ts";

/** `sql` is a text of this program, never of a request. */
export type Condition = { readonly sql: string; readonly values: readonly PostgresValue[] };

/** A condition that no row satisfies. */
export const NEVER: Condition = { sql: "FALSE", values: [] };

/** A column to filter by, compared as text or as an integer. */
export type Field = { readonly column: string; readonly kind: "text" | "integer" };
export type Fields = Readonly<Record<string, Field>>;

export const text = (column: string) => ({ column, kind: "text" }) as const;
export const integer = (column: string) => ({ column, kind: "integer" }) as const;

/** Values by the name of a field; absent fields do not filter. */
export type FilterOf<F extends Fields> = {
  readonly [Name in keyof F]?: F[Name]["kind"] extends "text" ? string : Integer | Interval;
};

/** Returns the conditions of a filter. Members that are not fields are ignored. */
export const conditionsOf = <F extends Fields>(fields: F, filter: FilterOf<F>): Condition[] =>
  Object.entries(fields).flatMap(([name, { column, kind }]) => {
    const value: Integer | Interval | undefined = filter[name];
    if (value === undefined) return [];
    return [kind === "text" ? isText(column, `${value}`) : isInteger(column, value)];
  });

/** Returns whether a text can be a value of a column: PostgreSQL text cannot contain U+0000. */
export const isStorable = (value: string): boolean => !value.includes("\0");

export const isText = (column: string, value: string): Condition =>
  isStorable(value) ? { sql: `${column} = ?`, values: [value] } : NEVER;

/** Matches rows whose column has one of the values. */
export const isOneOf = (column: string, values: readonly string[]): Condition => ({
  sql: `${column} = ANY (?::text[])`,
  values: [values.filter(isStorable)],
});

/** Matches rows whose column has a value, or a value within an interval. */
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

export const allOf = (conditions: readonly Condition[]): Condition => joined(conditions, "AND", "TRUE");
export const anyOf = (conditions: readonly Condition[]): Condition => joined(conditions, "OR", "FALSE");

const joined = (conditions: readonly Condition[], word: "AND" | "OR", none: string): Condition => ({
  sql: conditions.length === 0 ? none : conditions.map(({ sql }) => `(${sql})`).join(` ${word} `),
  values: conditions.flatMap(({ values }) => values),
});

/** Numbers the placeholders of a statement. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => `$${++count}`);
}
