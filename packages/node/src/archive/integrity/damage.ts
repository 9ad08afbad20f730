/** Finds damage in the database of a node: invalid pages, blocks that do not match their ids, malformed rows. */
import type { Network } from "@uniknode/protocol";
import { shortened, withoutControls } from "../../platform/text/foreign.ts";
import { BLOCK_IDS, isNotIndexed, TRANSACTION_IDS } from "../../store/chain/id-levels.ts";
import type { Database } from "../../store/engine/database.ts";
import { openReader } from "../../store/engine/migrations.ts";
import { blockDamage } from "./blocks.ts";

/** The first damage found, such as `table blocks: block 602: its id is not that of its bytes`. */
export type Inspection = {
  readonly damage?: string;
  /** Number of blocks whose bytes were compared with their ids, and of blocks on the chain. */
  readonly inspected: number;
  readonly blocks: number;
};

export type InspectOptions = {
  /** Time for which blocks are inspected, in random order. If absent, only pages and rows are inspected. */
  readonly blocks?: { readonly network: Network; readonly forMs: number };
};

const MAX_DAMAGE = 300;
/**
 * The file cannot be read as a database; TOOBIG: a row claims a value of more than a gigabyte. Other errors are not damage of the file:
 * the next read can succeed after IOERR.
 */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB|TOOBIG)/;

/**
 * Reads the whole database, in a transaction for each table and for each batch of blocks, so that a running
 * node is not blocked.
 *
 * @throws {Error} of the driver when the file cannot be opened
 */
export function inspectDatabase(path: string, { blocks }: InspectOptions = {}): Inspection {
  const progress = { inspected: 0, blocks: 0 };
  let database: Database | undefined;
  try {
    database = openReader(path);
    const damage =
      structureDamage(database) ??
      formDamage(database) ??
      (blocks && blockDamage(database, { ...blocks, progress }));
    return damage === undefined ? progress : { ...progress, damage: shown(damage) };
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (!DAMAGED.test(String(code))) throw error;
    return { ...progress, damage: shown(`${message} (${code})`) };
  } finally {
    database?.close();
  }
}

const shown = (damage: string): string => shortened(withoutControls(damage), MAX_DAMAGE);

/** Checks the pages: SQLite walks each table with its indexes. Returns the damage of the first damaged table. */
function structureDamage(database: Database): string | undefined {
  const tables = database
    .prepare<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
    .all();
  // One table is read at a time: a longer read would keep the write-ahead log from being emptied.
  const check = database.prepare<{ quick_check: string }>("SELECT quick_check FROM pragma_quick_check(?)");
  for (const { name } of tables) {
    const verdict = check.get(name)?.quick_check ?? "quick_check returned no result";
    if (verdict !== "ok") return `table ${name}: ${verdict.split("\n").at(-1)}`;
  }
  return undefined;
}

const isNoHex = (column: string, length: number): string =>
  `length(${column}) <> ${length} OR ${column} GLOB '*[^0-9a-f]*'`;
/** Addresses are base58 of 25 bytes; a public key that is not compressed has none. */
const isNoAddress = (column: string): string =>
  `length(${column}) NOT BETWEEN 25 AND 36 OR ${column} GLOB '*[^1-9A-HJ-NP-Za-km-z]*'`;
const isNoJson = (column: string): string => `NOT coalesce(json_valid(${column}), 0)`;

/**
 * Conditions of rows that this program never writes, by table: the pages are sound, but something else wrote into them. `key`
 * names the row.
 */
const FORMS: readonly { readonly table: string; readonly key: string; readonly isDamaged: string }[] = [
  {
    table: "blocks",
    key: "height",
    isDamaged: `generator NOT IN (SELECT number FROM generators) OR length(header) < 100 OR ${isNotIndexed(BLOCK_IDS)}
      OR number_of_transactions < 0 OR transactions_up_to <> number_of_transactions
        + coalesce((SELECT below.transactions_up_to FROM blocks AS below WHERE below.height = blocks.height - 1), 0)`,
  },
  { table: "generators", key: "number", isDamaged: "length(public_key) <> 33" },
  {
    table: "transactions",
    key: "height || '/' || sequence",
    isDamaged: `length(id) <> 32 OR ${isNotIndexed(TRANSACTION_IDS)} OR sender NOT IN (SELECT number FROM senders)
      OR (recipient IS NOT NULL AND recipient NOT IN (SELECT number FROM recipients)) OR (asset IS NOT NULL AND ${isNoJson("asset")})`,
  },
  { table: "senders", key: "number", isDamaged: "length(public_key) <> 33" },
  { table: "recipients", key: "number", isDamaged: isNoAddress("address") },
  { table: "payees", key: "payee", isDamaged: "payee NOT IN (SELECT number FROM recipients)" },
  {
    table: "wallets",
    key: "address",
    isDamaged: `${isNoAddress("address")} OR ${isNoJson("attributes")}
      OR (public_key IS NOT NULL AND (${isNoHex("public_key", 66)}))
      OR vote IS NOT attributes ->> '$.vote' OR username IS NOT attributes ->> '$.delegate.username'
      OR second_public_key IS NOT attributes ->> '$.secondPublicKey'`,
  },
  {
    table: "holdings",
    key: "address || '/' || kind || '/' || id",
    isDamaged: `${isNoAddress("address")} OR ${isNoJson("value")}`,
  },
  {
    table: "tokens",
    key: "id",
    isDamaged: `${isNoHex("id", 64)} OR ${isNoAddress("owner")} OR ${isNoHex("first_transaction", 64)}
      OR ${isNoHex("last_transaction", 64)}`,
  },
  { table: "properties", key: "token", isDamaged: isNoHex("token", 64) },
  { table: "property_parts", key: "token", isDamaged: `${isNoHex("token", 64)} OR number < 0` },
  { table: "rounds", key: "round", isDamaged: "length(delegates) % 13 <> 0" },
  { table: "undo", key: "height", isDamaged: isNoJson("CAST(changes AS TEXT)") },
  { table: "fact_tiles", key: "position", isDamaged: "length(hashes) % 32 <> 0 OR length(hashes) > 8192" },
  { table: "fact_sizes", key: "height", isDamaged: "size < 0" },
  {
    table: "unik_rows",
    key: "hex(key)",
    // An owner is an address, a long property is JSON, and everything else is a page, which begins with its length.
    isDamaged: `CASE hex(substr(key, 1, 1)) WHEN '6F' THEN length(key) <> 33 OR ${isNoAddress("CAST(value AS TEXT)")}
      WHEN '70' THEN length(key) <> 65 OR ${isNoJson("CAST(value AS TEXT)")}
      ELSE hex(substr(value, 1, 2)) <> printf('%04X', length(value)) END`,
  },
  { table: "unik_roots", key: "height", isDamaged: isNoHex("root", 64) },
  {
    table: "history_wallets",
    key: "address || '/' || height",
    isDamaged: `${isNoAddress("address")} OR (balance IS NULL) <> (nonce IS NULL) OR (nonce IS NULL) <> (has_public_key IS NULL)`,
  },
  {
    table: "history_records",
    key: "key || '/' || height",
    isDamaged: `(step = 0 AND kind < 2 AND record IS NOT NULL AND ${isNoJson("record")}) OR prefix < 0 OR suffix < 0`,
  },
  { table: "events", key: "sequence", isDamaged: `data IS NOT NULL AND ${isNoJson("data")}` },
  { table: "contents", key: "number", isDamaged: `data IS NOT NULL AND ${isNoJson("data")}` },
];

/** Returns the first damaged row. */
function formDamage(database: Database): string | undefined {
  for (const { table, key, isDamaged } of FORMS) {
    const row = database
      .prepare<{ key: string }>(`SELECT ${key} AS key FROM ${table} WHERE ${isDamaged} LIMIT 1`)
      .get();
    if (row) return `table ${table}: row ${row.key} has an invalid format`;
  }
  return undefined;
}
