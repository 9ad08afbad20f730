/** Compares the tables of a mirror with those of its node: equal texts mean equal rows. */
import { headerFromTrustedBytes, sealedFromTrustedBytes } from "@uniknode/protocol";
import type { Postgres } from "../../src/postgres/connection.ts";
import { toSignaturesText } from "../../src/store/chain/visible-fields.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { Dictionary, GENERATORS } from "../../src/store/engine/dictionary.ts";
import { packedRoundText, type RoundRow } from "../../src/store/state/packed-round.ts";

/** Columns that both databases have, by table. */
const TABLES: Readonly<Record<string, string>> = {
  blocks: `height, id, version, timestamp, number_of_transactions, total_amount, total_fee, reward, generator, previous,
    payload_length, payload_hash, signature, header`,
  transactions: `height, sequence, id, version, type_group, type, sender, recipient, nonce, amount, fee, timestamp,
    vendor_field, is_alive, signatures, asset, bytes`,
  payees: "address, height, sequence",
  wallets: "address, public_key, balance, nonce, vote, username, second_public_key, attributes",
  tokens: "id, owner, first_transaction, last_transaction",
  properties: "token, key, value",
  entries: "space, key, value",
  rounds: "round, height, record",
  type_totals: "type_group, type, transactions",
};
/** Text columns that are bytes in PostgreSQL. */
const TEXTS = ["vendor_field", "key", "value"];

const textOf = ([name, value]: [string, unknown]): string => {
  if (value instanceof Uint8Array) {
    return TEXTS.includes(name) ? Buffer.from(value).toString() : Buffer.from(value).toString("hex");
  }
  return String(value);
};
const rowText = (row: object): string => Object.entries(row).map(textOf).join(" | ");

/** Returns the rows of blocks with the columns of a mirror. The node stores some of them only in the header. */
function nodeBlocks(database: Database): object[] {
  const select = database.prepare<{ id: string; header: Uint8Array; generator: string }>(
    `SELECT height, id_text AS id, version, timestamp, number_of_transactions, total_amount, total_fee, reward,
       lower(hex(public_key)) AS generator, NULL AS previous, payload_length, NULL AS payload_hash, NULL AS signature, header
     FROM blocks JOIN generators ON number = generator`,
    { bigints: true },
  );
  return select.all().map((row) => {
    const { previousBlock, payloadHash, blockSignature } = headerFromTrustedBytes(row.header, row.id);
    return { ...row, previous: previousBlock, payload_hash: payloadHash, signature: blockSignature };
  });
}

/** Returns the rows of each table of a node, sorted. */
export const nodeTables = (database: Database): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(TABLES).map(([table, columns]) => [
      table,
      nodeRows(database, table, columns).map(rowText).sort(),
    ]),
  );

function nodeRows(database: Database, table: string, columns: string): object[] {
  if (table === "blocks") return nodeBlocks(database);
  if (table === "rounds") return nodeRounds(database);
  if (table === "transactions") return nodeTransactions(database);
  const from = table === "payees" ? "payees JOIN recipients ON number = payee" : table;
  return database.prepare<object>(`SELECT ${columns} FROM ${from}`, { bigints: true }).all();
}

/** Returns the rows of transactions with the columns of a mirror. */
function nodeTransactions(database: Database): object[] {
  const select = database.prepare<{ id: string; bytes: Uint8Array }>(
    `SELECT transactions.height, sequence, transactions.id_text AS id, transactions.version, type_group, type,
       lower(hex(public_key)) AS sender, address AS recipient, nonce, amount, fee, timestamp, vendor_field, is_alive,
       NULL AS signatures, asset, bytes
     FROM transactions JOIN blocks USING (height) JOIN senders ON senders.number = sender
       LEFT JOIN recipients ON recipients.number = recipient`,
    { bigints: true },
  );
  return select.all().map((row) => {
    const { data } = sealedFromTrustedBytes(row.bytes, row.id);
    return { ...row, signatures: toSignaturesText(data) };
  });
}

function nodeRounds(database: Database): object[] {
  const generators = new Dictionary(database, GENERATORS);
  return database
    .prepare<RoundRow>("SELECT round, height, delegates FROM rounds")
    .all()
    .map((row) => ({ round: row.round, height: row.height, record: packedRoundText(row, generators) }));
}

/** Returns the rows of each table of a mirror, sorted. */
export async function mirrorTables(postgres: Postgres): Promise<Record<string, string[]>> {
  const tables = Object.entries(TABLES).map(async ([table, columns]): Promise<[string, string[]]> => {
    const rows = await postgres.query<object>(`SELECT ${columns} FROM ${table}`);
    return [table, rows.map(rowText).sort()];
  });
  return Object.fromEntries(await Promise.all(tables));
}
