/** Copies the chain of one database to a new one, for creating and for restoring snapshots. */
import { BLOCK_IDS, rebuildIdLevels, TRANSACTION_IDS } from "../store/chain/id-levels.ts";
import { recountTypes } from "../store/chain/type-totals.ts";
import { columnsOf, copyRows } from "../store/conversion/copy.ts";
import { isEarlierSchema, schemaText } from "../store/conversion/schema.ts";
import { CHAIN_COPIES } from "../store/conversion/tables.ts";
import { type Database, openDatabase } from "../store/engine/database.ts";
import { countState, migrate } from "../store/engine/migrations.ts";
import { ArchiveError } from "./error.ts";

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
 * the source is not copied: it may be secrets of a node, or planted by the author of a snapshot. The rows of an earlier
 * version are converted. The copy is not flushed to disk.
 *
 * @throws {ArchiveError} ARCHIVE_FOREIGN when no version had the schema of the source
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
    // The source could contain views or triggers: only its schema is read before it is known.
    const schema = schemaText(database, "source");
    if (schema === schemaText(database, "main")) copyTables(database);
    else if (isEarlierSchema(schema)) convertTables(database);
    else
      throw new ArchiveError(
        "ARCHIVE_FOREIGN",
        `${source} was written by a newer version, or not by uniknode: use the version that wrote it`,
      );
    database.execute("INSERT INTO main.meta SELECT * FROM source.meta WHERE key = 'nethash'");
    database.execute("COMMIT; DETACH source");
    for (const index of [BLOCK_IDS, TRANSACTION_IDS]) rebuildIdLevels(database, index);
    recountTypes(database);
    countState(database);
  } finally {
    database.close();
  }
}

function copyTables(database: Database): void {
  for (const table of CHAIN_TABLES) {
    const columns = columnsOf(database, "main", table).join();
    database.execute(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM source.${table}`);
  }
}

function convertTables(database: Database): void {
  for (const _step of copyRows(database, CHAIN_COPIES)) {
    // All steps belong to one transaction.
  }
  database.execute("DROP TABLE conversion");
}
