/** Numbered SQL files, each applied once in a transaction and recorded with its checksum. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "../../platform/coded-error.ts";
import { type Database, openDatabase } from "./database.ts";

type MigrationErrorCode = "MIGRATION_CHANGED" | "MIGRATION_PENDING" | "MIGRATION_UNKNOWN";

/** The database does not fit this program. A retry never succeeds. */
export class MigrationError extends CodedError<MigrationErrorCode> {
  readonly fact: string;
  readonly nextStep: string;

  constructor(code: MigrationErrorCode, fact: string, nextStep: string) {
    super(code, `${fact}: ${nextStep}`, { isRetryable: false });
    this.fact = fact;
    this.nextStep = nextStep;
  }
}

const FOLDER = join(import.meta.dirname, "..", "migrations");

/**
 * Brings the schema up to date.
 *
 * @param path of its file, for errors
 * @param isLast called after each file; true ends the migration there, at the schema of an earlier version
 * @throws {MigrationError} when the database was created by a newer program, or an applied file was changed
 * since; then nothing was changed
 */
export function migrate(
  database: Database,
  path?: string,
  isLast: (name: string) => boolean = () => false,
): void {
  database.execute(
    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL) STRICT",
  );
  const applied = refuseNewer(database, path);
  for (const name of migrationNames()) {
    const sql = readFileSync(join(FOLDER, name), "utf8");
    const checksum = createHash("sha256").update(sql).digest("hex");
    const known = applied.get(name);
    if (known !== undefined && known !== checksum) {
      throw new MigrationError(
        "MIGRATION_CHANGED",
        `migration ${name} was changed after it had been applied to ${path ?? "the database"}`,
        "reinstall uniknode",
      );
    }
    if (known === undefined) apply(database, { name, sql, checksum });
    if (isLast(name)) return;
  }
}

function apply(
  database: Database,
  { name, sql, checksum }: Record<"name" | "sql" | "checksum", string>,
): void {
  database.transaction(() => {
    database.execute(sql);
    database.prepare("INSERT INTO migrations VALUES (?, ?)").run(name, checksum);
  });
}

export type ReaderOptions = {
  /** True if the caller reads only what all schemas have. Default: false. */
  readonly acceptsOlder?: boolean;
};

/**
 * Returns true if an earlier version wrote the database: `migrate` will convert its rows.
 *
 * @throws {MigrationError} when it was created by a newer program
 */
export function isOlder(database: Database, path: string): boolean {
  const applied = refuseNewer(database, path);
  return applied.size > 0 && isIncomplete(applied);
}

const isIncomplete = (applied: ReadonlyMap<string, string>) =>
  migrationNames().some((name) => !applied.has(name));

/**
 * Opens the database of a node for reading.
 *
 * @throws {MigrationError} when it was created by a newer program, or by an earlier one and not migrated since
 * @throws {Error} of the driver when it is not a database or cannot be opened
 */
export function openReader(path: string, { acceptsOlder = false }: ReaderOptions = {}): Database {
  const database = openDatabase(path, { readonly: true });
  try {
    const applied = refuseNewer(database, path);
    if (!acceptsOlder && isIncomplete(applied)) {
      throw new MigrationError(
        "MIGRATION_PENDING",
        `${path} was written by an earlier version of the program`,
        "start this version on it once, which converts it",
      );
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const migrationNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith(".sql"))
    .sort();

/** Checksums of the applied files, by name. */
function refuseNewer(database: Database, path = "the database"): ReadonlyMap<string, string> {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
  const rows = isThere
    ? database.prepare<{ name: string; checksum: string }>("SELECT name, checksum FROM migrations").all()
    : [];
  const names = migrationNames();
  const unknown = rows.find(({ name }) => !names.includes(name));
  if (unknown) {
    throw new MigrationError(
      "MIGRATION_UNKNOWN",
      `${path} was written by a newer version of the program (migration ${unknown.name})`,
      "start that version, or choose another data folder with --data",
    );
  }
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}
