/** Numbered SQL files, each applied once, in a transaction, and remembered with its checksum. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "./database.ts";

/** The database does not fit this program. A retry never succeeds. */
export class MigrationError extends Error {
  readonly code: "MIGRATION_CHANGED" | "MIGRATION_UNKNOWN";
  readonly isRetryable = false;

  constructor(code: MigrationError["code"], message: string) {
    super(message);
    this.name = "MigrationError";
    this.code = code;
  }
}

const FOLDER = join(import.meta.dirname, "..", "migrations");

/**
 * Brings the schema up to date.
 *
 * @throws {MigrationError} when the database was made by a newer program, or an applied file was changed since
 */
export function migrate(database: Database): void {
  database.execute(
    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL) STRICT",
  );
  const applied = new Map(
    database
      .prepare<{ name: string; checksum: string }>("SELECT name, checksum FROM migrations")
      .all()
      .map(({ name, checksum }) => [name, checksum]),
  );
  const names = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  for (const name of names) {
    const sql = readFileSync(join(FOLDER, name), "utf8");
    const checksum = createHash("sha256").update(sql).digest("hex");
    const known = applied.get(name);
    if (known === checksum) continue;
    if (known !== undefined) {
      throw new MigrationError(
        "MIGRATION_CHANGED",
        `migration ${name} was changed after it had been applied`,
      );
    }
    database.transaction(() => {
      database.execute(sql);
      database.prepare("INSERT INTO migrations VALUES (?, ?)").run(name, checksum);
    });
  }
  const unknown = [...applied.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new MigrationError(
      "MIGRATION_UNKNOWN",
      `the data was written by a newer version (migration ${unknown})`,
    );
  }
}
