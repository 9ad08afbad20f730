/**
 * Copies the chain of one database to a new one, for creating and for restoring snapshots, and computes the digest of
 * its whole state, to compare nodes.
 */
import { createHash } from "node:crypto";
import { BLOCK_IDS, rebuildIdLevels, TRANSACTION_IDS } from "../store/chain/id-levels.ts";
import { recountTypes } from "../store/chain/transactions.ts";
import { type Database, openDatabase, type SqlValue } from "../store/engine/database.ts";
import { migrate, migrationSteps } from "../store/engine/migrations.ts";
import { createShownAttributes } from "../store/state/holdings.ts";
import { countState } from "../store/state/totals.ts";
import { ArchiveError } from "./archive-error.ts";

/**
 * The tables that follow from the blocks. Other tables belong to the node, and may contain secrets; the indexes of ids are built
 * from the copied rows.
 */
const CHAIN_TABLES = [
  "generators",
  "blocks",
  "senders",
  "recipients",
  "transactions",
  "payees",
  "wallets",
  "holdings",
  "tokens",
  "properties",
  "entries",
  "rounds",
  "undo",
];

/**
 * Creates a database with a consistent copy of the chain and its state, and nothing else. Other content of
 * the source is not copied: it may be secrets of a node, or planted by the author of a snapshot. The rows of a source that lacks
 * the last migrations are copied to the tables that it has, and then migrated. The copy is not flushed to disk.
 *
 * @param folder of the SQL files of the migrations
 * @throws {ArchiveError} ARCHIVE_FOREIGN when no version had the schema of the source
 * @throws {Error} of the driver when the source is damaged or not a database
 */
export function copyChain(source: string, to: string, folder?: string): void {
  const database = openDatabase(to);
  try {
    // The copy is a single file without a journal: it is deleted on any failure.
    database.execute("PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    database.prepare("ATTACH ? AS source").run(source);
    // This one read transaction does not see later commits of a running node, and does not block them.
    database.execute("BEGIN DEFERRED");
    // The source could contain views or triggers: only its schema is read before it is known.
    const schema = schemaText(database, "source");
    const isKnown = migrationSteps(database, to, folder).some(() => schemaText(database, "main") === schema);
    if (!isKnown) {
      throw new ArchiveError(
        "ARCHIVE_FOREIGN",
        `${source} was written by a newer version, by a development version, or not by uniknode: use the version that wrote it`,
      );
    }
    copyTables(database);
    database.execute("INSERT INTO main.meta SELECT * FROM source.meta WHERE key = 'nethash'");
    database.execute("COMMIT; DETACH source");
    migrate(database, to, folder);
    for (const index of [BLOCK_IDS, TRANSACTION_IDS]) rebuildIdLevels(database, index);
    recountTypes(database);
    countState(database);
  } finally {
    database.close();
  }
}

function copyTables(database: Database): void {
  for (const table of CHAIN_TABLES) {
    const columns = columnsOf(database, table).join();
    database.execute(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM source.${table}`);
  }
}

/** Returns the names of the stored columns; `table_info` omits generated columns. */
const columnsOf = (database: Database, table: string): string[] =>
  database
    .prepare<{ name: string }>("SELECT name FROM pragma_table_info(?, 'main') ORDER BY cid")
    .all(table)
    .map(({ name }) => name);

type SchemaRow = { readonly type: string; readonly name: string; readonly tbl_name: string };

/** Returns the tables, indexes, views and triggers of a schema as text, without comments: these may differ. */
function schemaText(database: Database, schema: "main" | "source"): string {
  const rows = database.prepare<SchemaRow & { readonly sql: string | null }>(
    `SELECT type, name, tbl_name, sql FROM ${schema}.sqlite_schema
     WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name`,
  );
  return JSON.stringify(rows.all().map((row) => ({ ...row, sql: row.sql?.replace(/\s*--.*/g, "") })));
}

/** The consensus state, each table in the order of its key. */
const STATE = [
  "SELECT address, public_key, balance, nonce, attributes FROM wallets ORDER BY address",
  "SELECT id, owner, first_transaction, last_transaction FROM tokens ORDER BY id",
  "SELECT token, key, value FROM properties ORDER BY token, key",
  "SELECT space, key, value FROM entries ORDER BY space, key",
];

/**
 * Returns the SHA-256 over the consensus state at the head, hexadecimal. Databases with the same state have the same digest,
 * whether they were synchronised, imported or restored.
 */
export function stateDigest(database: Database): string {
  const hash = createHash("sha256");
  const shown = createShownAttributes(database);
  for (const sql of STATE) {
    for (const row of database.prepare<Record<string, SqlValue>>(sql, { bigints: true }).iterate()) {
      const { address, attributes } = row;
      const whole =
        attributes === undefined ? row : { ...row, attributes: shown(`${address}`, `${attributes}`) };
      hash.update(JSON.stringify(Object.entries(whole).map(canonical)));
    }
    hash.update("\n");
  }
  return hash.digest("hex");
}

/** Returns numbers as text, and objects with sorted members. */
function canonical([column, value]: [string, SqlValue]): unknown {
  if (typeof value === "bigint") return String(value);
  return column === "attributes" ? sorted(JSON.parse(String(value))) : value;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, member]) => [name, sorted(member)]);
}
