/** Numbered SQL files, each applied once in a transaction and recorded with its checksum. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "../../platform/coded-error.ts";
import { present } from "../../platform/present.ts";
import { type Database, openDatabase } from "./database.ts";

type MigrationErrorCode =
  | "MIGRATION_CHANGED"
  | "MIGRATION_PENDING"
  | "MIGRATION_UNKNOWN"
  | "MIGRATION_UNSUPPORTED";

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

type Migration = { readonly name: string; readonly sql: string; readonly checksum: string };

const FOLDER = join(import.meta.dirname, "..", "migrations");

/**
 * The last of the steps in which development versions created the tables of the first migration. A database with fewer steps is
 * refused (decision 78).
 */
const LAST_STEP = "034-fill-parts-of-properties.sql";

/**
 * Brings the schema up to date.
 *
 * @param path of its file, for errors
 * @param folder of the SQL files
 * @throws {MigrationError} when the database was created by a newer program or by a development version, or an applied file was
 * changed since; then nothing was changed
 */
export function migrate(database: Database, path = "the database", folder = FOLDER): void {
  for (const _step of migrationSteps(database, path, folder)) {
    // All steps are applied.
  }
}

/** Applies the missing migrations, each before it is yielded; see `migrate`. */
export function* migrationSteps(
  database: Database,
  path: string,
  folder = FOLDER,
): Generator<string, void, void> {
  const migrations = readMigrations(folder);
  const applied = readApplied(database, path, migrations);
  const changed = migrations.find(({ name, checksum }) => (applied.get(name) ?? checksum) !== checksum);
  if (changed) {
    throw new MigrationError(
      "MIGRATION_CHANGED",
      `migration ${changed.name} was changed after it had been applied to ${path}`,
      "reinstall uniknode",
    );
  }
  database.execute(
    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL) STRICT",
  );
  for (const [index, migration] of migrations.entries()) {
    if (applied.has(migration.name)) continue;
    apply(database, migration, index === 0 && applied.has(LAST_STEP));
    yield migration.name;
  }
}

/** @param isInSteps true if the tables exist, because development versions created them in steps */
function apply(database: Database, { name, sql, checksum }: Migration, isInSteps: boolean): void {
  database.transaction(() => {
    database.execute(isInSteps ? "DELETE FROM migrations" : sql);
    database.prepare("INSERT INTO migrations VALUES (?, ?)").run(name, checksum);
  });
}

export type ReaderOptions = {
  /** True if the caller reads only what the schemas of all migrations have. Default: false. */
  readonly acceptsOlder?: boolean;
};

/**
 * Opens the database of a node for reading.
 *
 * @throws {MigrationError} when it was created by a newer program or by a development version, or by an earlier program and not
 * migrated since
 * @throws {Error} of the driver when it is not a database or cannot be opened
 */
export function openReader(path: string, { acceptsOlder = false }: ReaderOptions = {}): Database {
  const database = openDatabase(path, { readonly: true });
  try {
    const migrations = readMigrations(FOLDER);
    const applied = readApplied(database, path, migrations);
    if (acceptsOlder || migrations.every(({ name }) => applied.has(name))) return database;
    throw new MigrationError(
      "MIGRATION_PENDING",
      `${path} was written by an earlier version of the program`,
      "start a node of this version on it once, which migrates it",
    );
  } catch (error) {
    database.close();
    throw error;
  }
}

const readMigrations = (folder: string): Migration[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    });

/** Returns the checksums of the applied files, by name. */
function readApplied(
  database: Database,
  path: string,
  migrations: readonly Migration[],
): ReadonlyMap<string, string> {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
  const rows = isThere
    ? database.prepare<{ name: string; checksum: string }>("SELECT name, checksum FROM migrations").all()
    : [];
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const known = migrations.map(({ name }) => name);
  const newest = [...applied.keys()]
    .filter((name) => !known.includes(name))
    .sort()
    .at(-1);
  if (newest === undefined || newest === LAST_STEP) return applied;
  if (newest > present(known[0], "a migration")) {
    throw new MigrationError(
      "MIGRATION_UNKNOWN",
      `${path} was written by a newer version of the program (migration ${newest})`,
      "start that version, or choose another data folder with --data",
    );
  }
  throw new MigrationError(
    "MIGRATION_UNSUPPORTED",
    `${path} was written by a development version, whose tables this version does not read`,
    'move the data folder away and start again, which fetches the chain from peers; or write the blocks with "uniknode export" of that version, and read them with "uniknode import" of this one',
  );
}
