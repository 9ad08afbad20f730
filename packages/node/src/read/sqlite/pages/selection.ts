/** What rows of a table are selected, as SQL. */
import { LRUCache } from "lru-cache";
import type { Database, SqlValue, Statement } from "../../../store/engine/database.ts";
import { type Condition, NEVER } from "./conditions.ts";
import type { OrderTerm } from "./order.ts";

export type ListedTable = {
  readonly table: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** What is shown; may use `joins`, which conditions and order may not. */
  readonly columns: string;
  readonly joins?: string;
};

export type Selection = {
  /** All of them must hold. */
  readonly conditions: readonly Condition[];
  /** One of them must hold, if there are any: each is looked up by an index of its own. */
  readonly ways?: readonly Condition[];
  /** Must end with what no two rows have in common, so that pages do not overlap. */
  readonly order: readonly OrderTerm[];
};

/** Rows meet all conditions of one of them. */
export type Alternatives = readonly (readonly Condition[])[];

/** Distinct texts kept prepared: the combinations of filters that clients really use are few. */
const MAX_STATEMENTS = 200;

export const valuesOf = (alternatives: Alternatives): SqlValue[] =>
  alternatives.flat().flatMap(({ values }) => values);

/** The conditions of a selection, and with each of its ways, but for those that no row is found by. */
export function alternativesOf({
  conditions,
  ways = [],
}: Pick<Selection, "conditions" | "ways">): Alternatives {
  if (ways.length === 0) return [conditions];
  const possible = ways.filter((way) => way !== NEVER);
  return (possible.length > 0 ? possible : [NEVER]).map((way) => [...conditions, way]);
}

/** Selects the keys of rows, each once. */
export const keysText = ({ table, key }: Pick<ListedTable, "table" | "key">, alternatives: Alternatives) =>
  alternatives.map((tests) => `SELECT ${key.join()} FROM ${table} ${whereText(tests)}`).join(" UNION ");

export function countText(listed: ListedTable, alternatives: Alternatives): string {
  const [first = [], ...others] = alternatives;
  if (others.length === 0) {
    const where = first.length === 0 ? "" : whereText(first);
    return `SELECT COUNT(*) AS total FROM ${listed.table} ${where}`;
  }
  return `SELECT COUNT(*) AS total FROM (${keysText(listed, alternatives)})`;
}

/** Keys of a page, whose limit and offset are the last two values, and the names of what it is ordered by. */
export function pageText(
  { table, key }: ListedTable,
  alternatives: Alternatives,
  order: readonly OrderTerm[],
): { text: string; names: readonly string[] } {
  const isKey = (value: string) => key.includes(value);
  const names = order.map(({ value }, index) => (isKey(value) ? value : `value${index}`));
  const values = order.flatMap(({ value }, index) => (isKey(value) ? [] : [`${value} AS ${names[index]}`]));
  const columns = [...key, ...values].join();
  const keys = alternatives.map((tests) => `SELECT ${columns} FROM ${table} ${whereText(tests)}`);
  const terms = order.map(({ direction }, index) => ({ value: names[index]!, direction }));
  return { text: `${keys.join(" UNION ")} ORDER BY ${orderText(terms)} LIMIT +? OFFSET +?`, names };
}

/** A text that is the same for selections of the same rows in the same order. */
export function nameOf(listed: ListedTable, selection: Selection): string {
  const alternatives = alternativesOf(selection);
  return [pageText(listed, alternatives, selection.order).text, ...valuesOf(alternatives)].join("\0");
}

/**
 * Looks at the clock first, since rows that fail a condition take time too: at one row in 64, because a call out of
 * SQLite takes ten times as long as a row of an index.
 */
export const whereText = (conditions: readonly Condition[]): string =>
  `WHERE ${["(random() & 63 OR in_time())", ...conditions.map(({ sql }) => `(${sql})`)].join(" AND ")}`;

export const orderText = (order: readonly OrderTerm[]): string =>
  order.map(({ value, direction }) => `${value} ${direction}`).join(", ");

/** Prepares each text once. */
export function createPreparer(database: Database): (sql: string) => Statement<unknown> {
  const prepared = new LRUCache<string, Statement<unknown>>({ max: MAX_STATEMENTS });
  return (sql) => {
    const known = prepared.get(sql);
    if (known) return known;
    const statement = database.prepare<unknown>(sql);
    prepared.set(sql, statement);
    return statement;
  };
}
