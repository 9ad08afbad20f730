/** Databases with the schema of an earlier version, for tests of migrations. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";

const FOLDER = new URL("../../src/store/migrations/", import.meta.url);

/**
 * Opens a temporary database to which only earlier migrations were applied.
 *
 * @param number of the first migration that is missing, such as `017`
 */
export function openOlderSchema(number: string): Database {
  const database = openDatabase(":memory:");
  database.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL) STRICT");
  const record = database.prepare("INSERT INTO migrations VALUES (?, ?)");
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".sql") && name < number);
  for (const name of names.sort()) {
    const sql = readFileSync(new URL(name, FOLDER), "utf8");
    database.execute(sql);
    record.run(name, createHash("sha256").update(sql).digest("hex"));
  }
  return database;
}
