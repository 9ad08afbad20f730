/**
 * Decodes the blocks of a feed, and writes and removes them, with the records of each block, and the undo rows that
 * restore the previous state.
 */

import { blockFromTrustedBytes, type EncodedBlock, encodeHeader, type Network } from "@uniknode/protocol";
import { receiveBlock } from "../chain/pipeline/receive.ts";
import type { Position } from "../feed/line.ts";
import type { PostgresValue, Transaction } from "../postgres/connection.ts";
import {
  BLOCK_COLUMNS,
  chainRows,
  countTypes,
  PAYEE_COLUMNS,
  TRANSACTION_COLUMNS,
  typeRows,
} from "./block-rows.ts";
import type { Bundle, Row } from "./line.ts";
import { MirrorError } from "./mirror-error.ts";
import { RECORD_TABLES, type RecordTable, tableOf, toColumns, toKey, toRowText } from "./records.ts";
import { type Columns, deleteRows, insertRows, selectRows, upsertRows } from "./statements.ts";

/** A bundle with its decoded block. */
export type DecodedBundle = Omit<Bundle, "block"> & { readonly block: EncodedBlock };

/**
 * Decodes the block of a bundle.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID if the bytes are not the named block
 */
export const decodeBundle = (bundle: Bundle, network: Network): DecodedBundle => ({
  ...bundle,
  block: readBlock(bundle, network),
});

function readBlock({ height, id, parent, block }: Bundle, network: Network): EncodedBlock {
  const invalid = (why: string, cause?: unknown) =>
    new MirrorError("MIRROR_FEED_INVALID", `block ${height} of the feed: ${why}`, { cause });
  const bytes = Buffer.from(block, "base64");
  let received: EncodedBlock;
  try {
    received = height === 1 ? readGenesis(bytes, id, network) : receiveBlock(bytes, network);
  } catch (cause) {
    throw invalid("it cannot be decoded", cause);
  }
  const { header } = received;
  if (header.id !== id || header.height !== height) {
    throw invalid(`its bytes are block ${header.height} ${header.id}`);
  }
  if (height > 1 && header.previousBlock !== parent) {
    throw invalid(`its parent is ${header.previousBlock}, not ${parent}`);
  }
  return received;
}

/** The genesis block does not follow the rules of other blocks, and its id is not derived from its bytes (blocks.md 10). */
function readGenesis(bytes: Uint8Array, id: string, network: Network): EncodedBlock {
  const block = blockFromTrustedBytes(bytes, network, id);
  if (block.header.payloadHash !== network.description.nethash) {
    throw new Error("it is the genesis block of another network");
  }
  return { ...block, headerBytes: encodeHeader(block.header, network) };
}

/** @param before number of transactions below the first block */
export async function appendBlocks(
  transaction: Transaction,
  blocks: readonly EncodedBlock[],
  before: bigint,
): Promise<void> {
  const rows = await chainRows(transaction.query, blocks, before);
  await insertRows(transaction, "blocks", BLOCK_COLUMNS, rows.blocks);
  await insertRows(transaction, "transactions", TRANSACTION_COLUMNS, rows.transactions);
  await insertRows(transaction, "payees", PAYEE_COLUMNS, rows.payees);
  await addTypeTotals(transaction, blocks);
}

async function addTypeTotals(transaction: Transaction, blocks: readonly EncodedBlock[]): Promise<void> {
  const counts = new Map<string, number>();
  countTypes(counts, blocks);
  const rows = typeRows(counts);
  if (rows.length === 0) return;
  await transaction.change(
    `INSERT INTO type_totals AS total SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bigint[])
     ON CONFLICT (type_group, type) DO UPDATE SET transactions = total.transactions + EXCLUDED.transactions`,
    [0, 1, 2].map((column) => rows.map((row) => row[column] ?? null)),
  );
}

/**
 * Removes the blocks above a stored block, and returns the number of their transactions.
 *
 * @throws {MirrorError} MIRROR_FEED_INVALID if the block is not stored
 */
export async function removeBlocks(transaction: Transaction, { height, id }: Position): Promise<number> {
  const [known] = await transaction.query("SELECT 1 FROM blocks WHERE height = $1 AND id = $2", [height, id]);
  if (!known)
    throw new MirrorError("MIRROR_FEED_INVALID", `cannot return to block ${height}: ${id} is not stored`);
  return removeAbove(transaction, height);
}

/** Removes the blocks above a height, and returns the number of their transactions. */
export async function removeAbove(transaction: Transaction, height: number): Promise<number> {
  await transaction.change(
    `UPDATE type_totals AS total SET transactions = total.transactions - removed.count
     FROM (SELECT type_group, type, count(*) AS count FROM transactions WHERE height > $1 GROUP BY 1, 2) AS removed
     WHERE removed.type_group = total.type_group AND removed.type = total.type`,
    [height],
  );
  await transaction.change("DELETE FROM type_totals WHERE transactions = 0");
  await transaction.change("DELETE FROM payees WHERE height > $1", [height]);
  await transaction.change("DELETE FROM blocks WHERE height > $1", [height]);
  return transaction.change("DELETE FROM transactions WHERE height > $1", [height]);
}

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
