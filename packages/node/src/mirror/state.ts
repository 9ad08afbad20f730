/** Writes the records of each block, and the undo rows that restore the previous state. */
import type { PostgresValue, Transaction } from "../postgres/connection.ts";
import type { Bundle, Row } from "./line.ts";
import { MirrorError } from "./mirror-error.ts";
import { RECORD_TABLES, type RecordTable, tableOf, toColumns, toKey, toRowText } from "./records.ts";
import { type Columns, deleteRows, insertRows, selectRows, upsertRows } from "./statements.ts";

const UNDO_COLUMNS: Columns = [
  ["height", "bigint"],
  ["record", "text"],
];

/** Identifies the record of a row: all rows of a record have the same text. */
const identity = ([table, key]: Row): string => `${table} ${key}`;
const absent = ([table, key]: Row): string => JSON.stringify([table, key]);

/** Applies the changes of blocks in order, and writes each record once. Stores an undo row for each change. */
export async function applyChanges(
  transaction: Transaction,
  bundles: readonly Pick<Bundle, "height" | "changes">[],
): Promise<void> {
  const current = await readRecords(
    transaction,
    bundles.flatMap(({ changes = [] }) => changes),
  );
  const undo: PostgresValue[][] = [];
  const written = new Map<string, Row>();
  for (const { height, changes = [] } of bundles) {
    for (const row of changes) {
      const name = identity(row);
      undo.push([height, current.get(name) ?? absent(row)]);
      current.set(name, JSON.stringify(row));
      written.set(name, row);
    }
  }
  await insertRows(transaction, "undo", UNDO_COLUMNS, undo);
  await writeRecords(transaction, [...written.values()]);
}

/** Restores the records as they were after the block at a height. */
export async function restoreRecords(transaction: Transaction, height: number): Promise<void> {
  const [head] = await transaction.query<{ oldest: string | null }>("SELECT min(height) AS oldest FROM undo");
  // Every block writes records: a mirror without undo rows was built at its head.
  if (head?.oldest == null || Number(head.oldest) > height + 1) {
    throw new MirrorError(
      "MIRROR_GONE",
      `the state after block ${height} is no longer stored: build the mirror again`,
    );
  }
  const rows = await transaction.query<{ record: string }>(
    "SELECT record FROM undo WHERE height > $1 ORDER BY height",
    [height],
  );
  const oldest = new Map<string, Row>();
  for (const { record } of rows) {
    const row = JSON.parse(record) as Row;
    const name = identity(row);
    if (!oldest.has(name)) oldest.set(name, row);
  }
  await writeRecords(transaction, [...oldest.values()]);
  await transaction.change("DELETE FROM undo WHERE height > $1", [height]);
}

/** Returns the texts of the stored records among the rows, by identity. */
async function readRecords(transaction: Transaction, rows: readonly Row[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [table, some] of byTable(rows)) {
    const keys = [...new Map(some.map((row) => [identity(row), toKey(row)])).values()];
    for (const columns of await selectRows(transaction, table.name, table.columns, table.keyLength, keys)) {
      const text = toRowText(table, columns);
      found.set(identity(JSON.parse(text) as Row), text);
    }
  }
  return found;
}

/** @param rows different records; a row without members removes its record */
async function writeRecords(transaction: Transaction, rows: readonly Row[]): Promise<void> {
  for (const [table, some] of byTable(rows)) {
    const { name, columns, keyLength } = table;
    const removed = some.filter(([, , ...members]) => members.length === 0);
    const kept = some.filter(([, , ...members]) => members.length > 0);
    await deleteRows(transaction, name, columns.slice(0, keyLength), removed.map(toKey));
    await upsertRows(transaction, name, columns, keyLength, kept.map(toColumns));
  }
}

/** Writes records into empty tables. */
export async function insertRecords(transaction: Transaction, rows: readonly Row[]): Promise<void> {
  for (const [{ name, columns }, some] of byTable(rows)) {
    await insertRows(transaction, name, columns, some.map(toColumns));
  }
}

/** Groups rows by table, in a fixed order of tables. */
const byTable = (rows: readonly Row[]): [RecordTable, Row[]][] => {
  const grouped = Map.groupBy(rows, ([table]) => tableOf(table));
  return RECORD_TABLES.flatMap((table): [RecordTable, Row[]][] => {
    const some = grouped.get(table);
    return some ? [[table, some]] : [];
  });
};
