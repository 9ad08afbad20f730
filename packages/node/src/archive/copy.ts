/** Copies the chain of one database to a new one, for creating and for restoring snapshots. */
import { recountTypes } from "../store/chain/type-totals.ts";
import { type Database, openDatabase } from "../store/engine/database.ts";
import { migrate } from "../store/engine/migrations.ts";
import { ArchiveError } from "./error.ts";

/** The tables that follow from the blocks. Other tables belong to the node, and may contain secrets. */
const CHAIN_TABLES = [
  "generators",
  "blocks",
  "transactions",
  "payees",
  "wallets",
  "tokens",
  "properties",
  "entries",
  "rounds",
  "undo",
];

/**
 * Creates a database with a consistent copy of the chain and its state, and nothing else. Other content of
 * the source is not copied: it may be secrets of a node, or planted by the author of a snapshot. The copy is
 * not flushed to disk.
 *
 * @throws {ArchiveError} ARCHIVE_FOREIGN when the schema of the source differs from that of this version
 * @throws {Error} of the driver when the source is damaged or not a database
 */
export function copyChain(source: string, to: string): void {
  const database = openDatabase(to);
  try {
    // A single file without a journal: it is deleted on any failure.
    database.execute("PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    migrate(database);
    database.prepare("ATTACH ? AS source").run(source);
    // One read transaction: it does not see later commits of a running node, and does not block them.
    database.execute("BEGIN DEFERRED");
    checkSchema(database, source);
    for (const table of CHAIN_TABLES) {
      const columns = columnsOf(database, table);
      database.execute(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM source.${table}`);
    }
    recountTypes(database);
    database.execute("INSERT INTO main.meta SELECT * FROM source.meta WHERE key = 'nethash'");
    database.execute("COMMIT");
  } finally {
    database.close();
  }
}

/** Returns the names of the stored columns; `table_info` omits generated columns. */
const columnsOf = (database: Database, table: string): string =>
  database
    .prepare<{ name: string }>("SELECT name FROM pragma_table_info(?, 'main') ORDER BY cid")
    .all(table)
    .map(({ name }) => name)
    .join();

/** Requires the schema of this version: the source could contain views or triggers. */
function checkSchema(database: Database, source: string): void {
  const objects = (schema: string) =>
    JSON.stringify(
      database
        .prepare(
          `SELECT type, name, tbl_name, sql FROM ${schema}.sqlite_schema
           WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name`,
        )
        .all(),
    );
  if (objects("main") === objects("source")) return;
  throw new ArchiveError(
    "ARCHIVE_FOREIGN",
    `${source} was written by another version: start this version on it once to migrate it, or use the other version`,
  );
}
