/** Filtered, ordered pages of a table. */
import { LRUCache } from "lru-cache";
import type { Database, SqlValue, Statement } from "../database.ts";

/** A test on a row with the values of its placeholders. Conditions are joined by AND. */
export type Condition = { readonly sql: string; readonly values: readonly SqlValue[] };

export type Range = { readonly offset: number; readonly limit: number };

export type Found<T> = { readonly rows: T[]; readonly totalCount: number };

/** `order`: an ORDER BY text of the caller's own making, never of a request's. */
export type List<Row> = (conditions: readonly Condition[], order: string, range: Range) => Found<Row>;

/** Distinct texts kept prepared: the combinations of filters that clients really use are few. */
const MAX_STATEMENTS = 200;

/**
 * Pages of `table`. `columns` may use `joins`; conditions and order only the table itself, so that counting needs no
 * join.
 */
export function createList<Row>(
  database: Database,
  { columns, table, joins = "" }: { columns: string; table: string; joins?: string },
): List<Row> {
  const prepare = createPreparer(database);
  return (conditions, order, { offset, limit }) => {
    const where =
      conditions.length > 0 ? `WHERE ${conditions.map(({ sql }) => `(${sql})`).join(" AND ")}` : "";
    const values = conditions.flatMap((condition) => condition.values);
    const rows = prepare(
      `SELECT ${columns} FROM ${table} ${joins} ${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
    );
    const count = prepare(`SELECT COUNT(*) AS totalCount FROM ${table} ${where}`);
    const { totalCount } = count.get(...values) as { totalCount: number };
    // Pages beyond the end need no search for what is not there.
    if (offset >= totalCount) return { rows: [], totalCount };
    return { rows: rows.all(...values, limit, offset) as Row[], totalCount };
  };
}

/** Tests by the name of a filter, each with one placeholder for its value. */
export type Tests = Readonly<Record<string, string>>;

/** Values by the name of a filter, as text; what is absent does not filter. */
export type FilterOf<T extends Tests> = { readonly [Name in keyof T]?: string };

/** The conditions that a filter asks for. Members of it that are no test are left alone. */
export const conditionsOf = <T extends Tests>(tests: T, filter: FilterOf<T>): Condition[] =>
  Object.entries(tests).flatMap(([name, sql]) => {
    const value = filter[name];
    return value === undefined ? [] : [{ sql, values: [value] }];
  });

export type Direction = "asc" | "desc";

/** A condition that no row meets. */
export const NEVER: Condition = { sql: "FALSE", values: [] };

/** Prepares each text once. */
function createPreparer(database: Database): (sql: string) => Statement<unknown> {
  const prepared = new LRUCache<string, Statement<unknown>>({ max: MAX_STATEMENTS });
  return (sql) => {
    const known = prepared.get(sql);
    if (known) return known;
    const statement = database.prepare<unknown>(sql);
    prepared.set(sql, statement);
    return statement;
  };
}
