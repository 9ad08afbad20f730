/** Filtered, ordered pages of a table. */
import { LRUCache } from "lru-cache";
import type { Database, SqlValue, Statement } from "../database.ts";
import type { Condition } from "./conditions.ts";
import { type Head, perHead } from "./snapshot.ts";

export type Range = { readonly offset: number; readonly limit: number };

export type Found<T> = { readonly rows: T[]; readonly totalCount: number };

export type Direction = "asc" | "desc";

/** What rows are ordered by: a text of the caller's own making, never of a request's. */
export type OrderTerm = { readonly value: string; readonly direction: Direction };

export type Selection = {
  /** All of them must hold. */
  readonly conditions: readonly Condition[];
  /** One of them must hold, if there are any: each is looked up by an index of its own. */
  readonly ways?: readonly Condition[];
  /** Must end with what no two rows have in common, so that pages do not overlap. */
  readonly order: readonly OrderTerm[];
};

export type List<Row> = (head: Head, selection: Selection, range: Range) => Found<Row>;

export type ListedTable = {
  readonly table: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** What is shown; may use `joins`, which conditions and order may not. */
  readonly columns: string;
  readonly joins?: string;
};

/** Distinct texts kept prepared: the combinations of filters that clients really use are few. */
const MAX_STATEMENTS = 200;
/** Totals remembered until the next block, unless what they are totals of is long. */
const MAX_TOTALS = 1_000;
const MAX_NAME_LENGTH = 4_000;

export function createList<Row>(database: Database, listed: ListedTable): List<Row> {
  const { table, key, columns, joins = "" } = listed;
  const prepare = createPreparer(database);
  const totals = perHead(() => new LRUCache<string, number>({ max: MAX_TOTALS }));

  /** The number of rows that a text finds. */
  function total(head: Head, sql: string, values: readonly SqlValue[]): number {
    const known = totals(head);
    const name = [sql, ...values].join("\0");
    const total = known.get(name) ?? (prepare(sql).get(...values) as { total: number }).total;
    if (name.length <= MAX_NAME_LENGTH) known.set(name, total);
    return total;
  }

  return (head, { conditions, ways = [], order }, { offset, limit }) => {
    const alternatives = ways.length > 0 ? ways.map((way) => [...conditions, way]) : [conditions];
    const values = alternatives.flat().flatMap((condition) => condition.values);
    const totalCount = total(head, countText(listed, alternatives), values);
    // Pages beyond the end need no search for what is not there.
    if (offset >= totalCount) return { rows: [], totalCount };
    // The keys of the page first: what is skipped or sorted does not drag whole rows along.
    const rows = prepare(
      `SELECT ${columns} FROM (${pageText(listed, alternatives, order)}) AS page
       CROSS JOIN ${table} USING (${key.join()}) ${joins} ORDER BY ${orderText(order)}`,
    );
    return { rows: rows.all(...values, limit, offset) as Row[], totalCount };
  };
}

type Alternatives = readonly (readonly Condition[])[];

function countText({ table, key }: ListedTable, alternatives: Alternatives): string {
  const [first = [], ...others] = alternatives;
  if (others.length === 0) {
    const where = first.length === 0 ? "" : whereText(first);
    return `SELECT COUNT(*) AS total FROM ${table} ${where}`;
  }
  const keys = alternatives.map((tests) => `SELECT ${key.join()} FROM ${table} ${whereText(tests)}`);
  return `SELECT COUNT(*) AS total FROM (${keys.join(" UNION ")})`;
}

/** Keys of a page, whose limit and offset are the last two values. */
function pageText(
  { table, key }: ListedTable,
  alternatives: Alternatives,
  order: readonly OrderTerm[],
): string {
  const isKey = (value: string) => key.includes(value);
  const names = order.map(({ value }, index) => (isKey(value) ? value : `value${index}`));
  const values = order.flatMap(({ value }, index) => (isKey(value) ? [] : [`${value} AS ${names[index]}`]));
  const columns = [...key, ...values].join();
  const keys = alternatives.map((tests) => `SELECT ${columns} FROM ${table} ${whereText(tests)}`);
  const terms = order.map(({ direction }, index) => ({ value: names[index]!, direction }));
  return `${keys.join(" UNION ")} ORDER BY ${orderText(terms)} LIMIT ? OFFSET ?`;
}

/** Asks for the time first: rows that fail a condition take time too. */
const whereText = (conditions: readonly Condition[]): string =>
  `WHERE ${["in_time()", ...conditions.map(({ sql }) => `(${sql})`)].join(" AND ")}`;

const orderText = (order: readonly OrderTerm[]): string =>
  order.map(({ value, direction }) => `${value} ${direction}`).join(", ");

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
