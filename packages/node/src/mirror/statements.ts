/** Statements that write many rows at once, each column as one array. */
import type { PostgresValue, Transaction } from "../postgres/connection.ts";
import { copyLine } from "../postgres/text-formats.ts";

export type Columns = readonly (readonly [name: string, type: string])[];

/** Maximum number of rows per statement; with ordinary rows, its parameters have at most 10 MB. */
const MAX_ROWS = 2_000;
/** `COPY` writes 1.45 times as many rows per second (docs/decisions/0043), but waits for the server twice. */
const MIN_COPIED_ROWS = 200;

export async function insertRows(
  transaction: Transaction,
  table: string,
  columns: Columns,
  rows: readonly (readonly PostgresValue[])[],
): Promise<void> {
  if (rows.length >= MIN_COPIED_ROWS) {
    const sql = `COPY ${table} (${names(columns)}) FROM STDIN`;
    for (const some of parts(rows)) await transaction.copy(sql, some.map(copyLine).join(""));
    return;
  }
  await write(
    transaction,
    `INSERT INTO ${table} (${names(columns)}) ${selectArrays(columns)}`,
    columns,
    rows,
  );
}

/** Inserts rows, or replaces stored rows with the same key. No two given rows have the same key. */
export async function upsertRows(
  transaction: Transaction,
  table: string,
  columns: Columns,
  keyLength: number,
  rows: readonly (readonly PostgresValue[])[],
): Promise<void> {
  const others = columns.slice(keyLength).map(([name]) => `${name} = EXCLUDED.${name}`);
  await write(
    transaction,
    `INSERT INTO ${table} (${names(columns)}) ${selectArrays(columns)}
     ON CONFLICT (${names(columns.slice(0, keyLength))}) DO UPDATE SET ${others.join(", ")}`,
    columns,
    rows,
  );
}

/** Removes the rows with these keys. */
export async function deleteRows(
  transaction: Transaction,
  table: string,
  key: Columns,
  keys: readonly (readonly PostgresValue[])[],
): Promise<void> {
  await write(transaction, `DELETE FROM ${table} WHERE (${names(key)}) IN (${selectArrays(key)})`, key, keys);
}

/** Returns the rows with these keys, each as its columns. */
export async function selectRows(
  transaction: Transaction,
  table: string,
  columns: Columns,
  keyLength: number,
  keys: readonly (readonly PostgresValue[])[],
): Promise<PostgresValue[][]> {
  const key = columns.slice(0, keyLength);
  const found: PostgresValue[][] = [];
  for (const some of parts(keys)) {
    const rows = await transaction.query<Record<string, PostgresValue>>(
      `SELECT ${names(columns)} FROM ${table} WHERE (${names(key)}) IN (${selectArrays(key)})`,
      arrays(key, some),
    );
    found.push(...rows.map((row) => columns.map(([name]) => row[name] ?? null)));
  }
  return found;
}

async function write(
  transaction: Transaction,
  sql: string,
  columns: Columns,
  rows: readonly (readonly PostgresValue[])[],
): Promise<void> {
  for (const some of parts(rows)) await transaction.change(sql, arrays(columns, some));
}

const names = (columns: Columns): string => columns.map(([name]) => name).join(", ");

const selectArrays = (columns: Columns): string =>
  `SELECT * FROM unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ")})`;

const arrays = (columns: Columns, rows: readonly (readonly PostgresValue[])[]): PostgresValue[] =>
  columns.map((_, column) => rows.map((row) => row[column] ?? null));

function* parts<T>(items: readonly T[]): Iterable<readonly T[]> {
  for (let start = 0; start < items.length; start += MAX_ROWS) yield items.slice(start, start + MAX_ROWS);
}
