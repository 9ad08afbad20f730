/** Copies the rows of an earlier version, in steps that each end with a commit, so that a killed process continues. */
import { DataError } from "../engine/data-error.ts";
import type { Database, SqlValue, Statement } from "../engine/database.ts";
import { countState, fillHoldings, fillPropertyParts } from "../engine/migrations.ts";
import type { InRange, TableCopy } from "./tables.ts";

/** Rows copied so far, and all rows to copy. */
export type CopyProgress = { readonly copied: number; readonly total: number };

/** Rows of one transaction: its commit takes little of its time. */
const STEP_ROWS = 5_000;

/**
 * Copies the rows of an attached database with the schema name `source` to the tables of this version, which have no triggers
 * yet. Yields after each step. The positions reached are in the table `conversion`: the generator continues there.
 *
 * @throws {DataError} DATA_DAMAGED if a table has fewer rows than its source
 */
export function* copyRows(
  database: Database,
  copies: readonly TableCopy[],
): Generator<CopyProgress, void, void> {
  database.execute(
    "CREATE TABLE IF NOT EXISTS conversion (name TEXT PRIMARY KEY, position TEXT) STRICT, WITHOUT ROWID",
  );
  const existing = copies.flatMap((copy) => existingOf(database, copy));
  const total = existing.reduce((sum, { from }) => sum + count(database, `source.${from}`), 0);
  let copied = 0;
  for (const copy of existing) {
    // A row of the schema, such as that of the register, is replaced.
    const positions = createPositions(database, copy.table);
    if (positions.last() === undefined) database.execute(`DELETE FROM main.${copy.table}`);
    const before = count(database, `main.${copy.table}`);
    copied += before;
    for (const rows of copyTable(database, copy, positions)) {
      copied += rows;
      yield { copied, total };
    }
    requireAll(database, copy);
  }
  if (keyOf(database, "holdings") === undefined) fillHoldings(database);
  countState(database);
  fillPropertyParts(database);
}

/**
 * Returns the rule with the name that the table of the source has; nothing if the source has none, or no rows in it: without a
 * position, a continued copy would empty the table, to which the rule of another one may have added rows.
 */
function existingOf(database: Database, copy: TableCopy): TableCopy[] {
  const from = [copy.from, copy.table].find((name) => keyOf(database, name) !== undefined);
  return from === undefined || count(database, `source.${from}`) === 0 ? [] : [{ ...copy, from }];
}

type Position = readonly SqlValue[];

function createPositions(database: Database, name: string) {
  const select = database.prepare<{ position: string }>("SELECT position FROM conversion WHERE name = ?");
  const store = database.prepare("INSERT OR REPLACE INTO conversion VALUES (?, ?)");
  return {
    /** Returns the key of the last copied row; undefined if none was copied. */
    last(): Position | undefined {
      const row = select.get(name);
      return row && JSON.parse(row.position);
    },
    /** Must be called in the transaction that copies the rows. */
    reach: (position: Position) => void store.run(name, JSON.stringify(position)),
  };
}

/** Yields the number of rows of each step. */
function* copyTable(
  database: Database,
  copy: TableCopy,
  positions: ReturnType<typeof createPositions>,
): Generator<number, void, void> {
  const key = keyOf(database, copy.from) ?? [];
  const nextKey = createNextKey(database, copy.from, key);
  const first = prepareStep(database, copy, { key, isFirst: true });
  const others = prepareStep(database, copy, { key, isFirst: false });
  for (let last = positions.last(); ; ) {
    const next = nextKey(last);
    if (!next) return;
    const statements = last ? others : first;
    const parameters = [...(last ?? []), ...next];
    const rows = database.transaction(() => {
      const changes = statements.map((statement) => statement.run(...parameters).changes);
      positions.reach(next);
      return changes.at(-1) ?? 0;
    }, "process death");
    last = next;
    yield rows;
  }
}

/** Creates a function that returns the last key of the step that follows a key; undefined if no row follows. */
function createNextKey(database: Database, table: string, key: readonly string[]) {
  const columns = key.join();
  const descending = key.map((column) => `${column} DESC`).join();
  const select = (condition: string, order: string) =>
    database.prepare<SqlValue[]>(
      `SELECT ${columns} FROM source.${table} WHERE ${condition} ORDER BY ${order}`,
      { arrays: true },
    );
  const [first, others] = ["TRUE", `(${columns}) > (${places(key)})`].map((condition) => [
    select(condition, `${columns} LIMIT 1 OFFSET ${STEP_ROWS - 1}`),
    select(condition, `${descending} LIMIT 1`),
  ]);
  return (last: Position = []): Position | undefined => {
    const [step, end] = (last.length > 0 ? others : first) ?? [];
    return step?.get(...last) ?? end?.get(...last);
  };
}

/** @param isFirst true if the range has no lower limit */
function prepareStep(
  database: Database,
  copy: TableCopy,
  { key, isFirst }: { readonly key: readonly string[]; readonly isFirst: boolean },
): Statement<unknown>[] {
  const inRange: InRange = (source) => {
    const row = `(${key.map((column) => `${source}.${column}`).join()})`;
    const upTo = `${row} <= (${places(key)})`;
    return isFirst ? upTo : `${row} > (${places(key)}) AND ${upTo}`;
  };
  const { earlier, from } = copy;
  const isEarlier = earlier && columnsOf(database, "source", from).includes(earlier.column);
  const sql = isEarlier ? earlier.statements(inRange) : [copyByName(database, copy, inRange)];
  return sql.map((text) => database.prepare(text));
}

const places = (key: readonly string[]): string => key.map(() => "?").join();

/** Returns the statement that copies the columns of both tables, and columns with an expression. */
function copyByName(database: Database, { table, from, columns = {} }: TableCopy, inRange: InRange): string {
  const before = columnsOf(database, "source", from);
  const names = columnsOf(database, "main", table).filter((name) => before.includes(name) || name in columns);
  const expressions = names.map((name) => (before.includes(name) ? name : columns[name]));
  return `INSERT INTO main.${table} (${names.join()}) SELECT ${expressions.join()} FROM source.${from}
    WHERE ${inRange(`source.${from}`)}`;
}

/** Returns the names of the stored columns; `table_info` omits generated columns. */
export const columnsOf = (database: Database, schema: string, table: string): string[] =>
  database
    .prepare<{ name: string }>("SELECT name FROM pragma_table_info(?, ?) ORDER BY cid")
    .all(table, schema)
    .map(({ name }) => name);

/** Returns the columns that order the rows of a table of the source; undefined if it has no such table. */
function keyOf(database: Database, table: string): string[] | undefined {
  const columns = database
    .prepare<{ name: string; pk: number }>("SELECT name, pk FROM pragma_table_info(?, 'source')")
    .all(table);
  if (columns.length === 0) return undefined;
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  return key.length > 0 ? key.map(({ name }) => name) : ["rowid"];
}

const count = (database: Database, table: string): number =>
  database.prepare<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows ?? 0;

function requireAll(database: Database, { table, from }: TableCopy): void {
  const [rows, expected] = [count(database, `main.${table}`), count(database, `source.${from}`)];
  if (rows >= expected) return;
  throw new DataError(
    "DATA_DAMAGED",
    `the database of an earlier version cannot be converted (${expected - rows} rows of the table ${from} do not match other tables): start the earlier version on it, which can read it; or move the folder away, and restart to fetch the chain from peers`,
  );
}

/** Numbers that were used once are not used again, even if their rows were removed. */
export function copySequences(database: Database): void {
  database.execute(
    `DELETE FROM main.sqlite_sequence;
     INSERT INTO main.sqlite_sequence
       SELECT name, seq FROM source.sqlite_sequence WHERE name IN (SELECT name FROM main.sqlite_schema)`,
  );
}
