/** The chain of one database in another: the way in which chains leave a node, and enter one. */
import { type Database, openDatabase } from "../store/engine/database.ts";
import { migrate } from "../store/engine/migrations.ts";
import { ArchiveError } from "./error.ts";

/** Everything that follows from the blocks. What else a database has is its node's own, and may be secret. */
const CHAIN_TABLES = [
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
 * Makes a new database of the chain and its state, as they are at one moment, and of nothing else: whatever the source
 * has beside them, secrets of its node or the inventions of a stranger, stays behind. It is not on disk yet.
 *
 * @throws {ArchiveError} ARCHIVE_FOREIGN when the source has another schema than this version
 * @throws {Error} of the driver when the source is no database, or a broken one
 */
export function copyChain(source: string, to: string): void {
  const database = openDatabase(to);
  try {
    // One file without a journal beside it, which is thrown away if anything fails.
    database.execute("PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    migrate(database);
    database.prepare("ATTACH ? AS source").run(source);
    // One transaction: what a running node commits meanwhile is not seen. It takes no lock that the node waits for.
    database.execute("BEGIN DEFERRED");
    checkSchema(database, source);
    for (const table of CHAIN_TABLES) {
      database.execute(`INSERT INTO main.${table} SELECT * FROM source.${table}`);
    }
    database.execute("INSERT INTO main.meta SELECT * FROM source.meta WHERE key = 'nethash'");
    database.execute("COMMIT");
  } finally {
    database.close();
  }
}

/** A table may be a view, and a trigger may do anything: the texts must be those of this version. */
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
    `${source} was written by another version; let this one run on it once, or use that version`,
  );
}
