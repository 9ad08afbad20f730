/** Databases with the schema of an earlier version, and their conversion without the verification of blocks. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BLOCK_IDS, rebuildIdLevels, TRANSACTION_IDS } from "../../src/store/chain/id-levels.ts";
import { copyRows, copySequences } from "../../src/store/conversion/copy.ts";
import { createTables, missingObjects, recordSchema } from "../../src/store/conversion/schema.ts";
import { CHAIN_COPIES, NODE_COPIES } from "../../src/store/conversion/tables.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { temporaryFolder } from "../chain/fixtures.ts";

const FOLDER = new URL("./earlier/", import.meta.url);

/** The last schema in which all rows had their first form. */
const LAST = "016";

export const earlierMigrations = (): string[] => readdirSync(FOLDER).sort();

/** @param upTo number of its last migration, such as `008`, which is that of version 0.1.0 */
export function openEarlier(path: string, upTo = LAST): Database {
  const database = openDatabase(path);
  database.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL) STRICT");
  applyEarlier(database, "001", upTo);
  return database;
}

/** Applies the migrations from one number to another. */
export function applyEarlier(database: Database, from: string, upTo: string): void {
  const record = database.prepare("INSERT INTO migrations VALUES (?, ?)");
  for (const name of earlierMigrations().filter(
    (name) => name >= from && name.slice(0, upTo.length) <= upTo,
  )) {
    const sql = readFileSync(new URL(name, FOLDER), "utf8");
    database.execute(sql);
    record.run(name, createHash("sha256").update(sql).digest("hex"));
  }
}

/** Opens a database of this version, to which the rows of an earlier one were copied. */
export function openConverted(fill: (earlier: Database) => void, upTo = LAST): Database {
  const folder = temporaryFolder();
  const path = join(folder.path, "earlier.sqlite");
  const earlier = openEarlier(path, upTo);
  fill(earlier);
  earlier.close();
  const database = convertFile(path);
  folder.remove();
  return database;
}

export function convertFile(path: string): Database {
  const database = openDatabase(":memory:");
  createTables(database);
  database.execute("PRAGMA foreign_keys = OFF");
  database.prepare("ATTACH ? AS source").run(path);
  for (const { copied, total } of copyRows(database, [...CHAIN_COPIES, ...NODE_COPIES]))
    if (copied > total) throw new Error("more rows than the source has");
  copySequences(database);
  for (const index of [BLOCK_IDS, TRANSACTION_IDS]) rebuildIdLevels(database, index);
  for (const { sql } of missingObjects(database)) database.execute(sql);
  recordSchema(database);
  database.execute("DROP TABLE conversion; DETACH source; PRAGMA foreign_keys = ON");
  return database;
}
