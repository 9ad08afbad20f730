/** Copies the chain of one database to a new one, for creating and for restoring snapshots. */
import { recountTypes } from "../store/chain/type-totals.ts";
import { type Database, openDatabase } from "../store/engine/database.ts";
import { migrate } from "../store/engine/migrations.ts";
import { ArchiveError } from "./error.ts";

/** The tables that follow from the blocks. Other tables belong to the node, and may contain secrets. */
const CHAIN_TABLES = [
  "generators",
  "blocks",
  "senders",
  "recipients",
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
 * the source is not copied: it may be secrets of a node, or planted by the author of a snapshot. The rows of an earlier
 * version are copied to its schema, then migrated. The copy is not flushed to disk.
 *
 * @throws {ArchiveError} ARCHIVE_FOREIGN when no version had the schema of the source
 * @throws {Error} of the driver when the source is damaged or not a database
 */
export function copyChain(source: string, to: string): void {
  const database = openDatabase(to);
  try {
    // A single file without a journal: it is deleted on any failure.
    database.execute("PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    database.prepare("ATTACH ? AS source").run(source);
    // One read transaction: it does not see later commits of a running node, and does not block them.
    database.execute("BEGIN DEFERRED");
    createSchema(database, source);
    for (const table of CHAIN_TABLES.filter((table) => hasTable(database, table))) {
      const columns = columnsOf(database, table);
      database.execute(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM source.${table}`);
    }
    database.execute("INSERT INTO main.meta SELECT * FROM source.meta WHERE key = 'nethash'");
    database.execute("COMMIT; DETACH source");
    migrate(database);
    recountTypes(database);
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

/**
 * Gives the database the schema of the source, which must be that of this version or of an earlier one: the source could
 * contain views or triggers. Reads only the schema of the source.
 */
function createSchema(database: Database, source: string): void {
  const given = schemaOf(database, "source");
  let isFound = false;
  migrate(database, undefined, () => {
    isFound = schemaOf(database, "main") === given;
    return isFound;
  });
  if (isFound) return;
  throw new ArchiveError(
    "ARCHIVE_FOREIGN",
    `${source} was written by a newer version, or not by uniknode: use the version that wrote it`,
  );
}

const schemaOf = (database: Database, name: string): string =>
  JSON.stringify(
    database
      .prepare(
        `SELECT type, name, tbl_name, sql FROM ${name}.sqlite_schema
         WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name`,
      )
      .all(),
  );

const hasTable = (database: Database, name: string): boolean =>
  database.prepare("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?").get(name) !==
  undefined;
