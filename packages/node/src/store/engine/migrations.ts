/**
 * Numbered SQL files, each applied once in a transaction and recorded with its checksum. Databases of versions before the
 * baseline are not migrated, but converted (archive/conversion).
 */

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

/** The migrations that versions before the baseline may have recorded: 0.1.0 has those up to the eighth. */
const BEFORE_BASELINE = [
  ...[
    "001-chain.sql",
    "002-events.sql",
    "003-streams.sql",
    "004-peers.sql",
    "005-totals.sql",
    "006-aliases.sql",
  ],
  ...["007-nonces.sql", "008-queues.sql", "009-type-totals.sql", "010-facts.sql", "011-restarts.sql"],
  ...["012-attempt-counts.sql", "013-webhook-names.sql", "014-feed.sql", "015-remote-names.sql"],
  ...["016-confirmations.sql", "017-lean-blocks.sql", "018-packed-rounds.sql", "019-names.sql"],
  // An earlier baseline, with one index for all ids.
  "001-baseline.sql",
];

/**
 * Brings the schema up to date.
 *
 * @param path of its file, for errors
 * @throws {MigrationError} when the database was created by a newer program or by one before the baseline, or an applied file
 * was changed since; then nothing was changed
 */
export function migrate(database: Database, path = "the database"): void {
  const applied = refuseNewer(database, path);
  if (isBeforeBaseline(applied)) throw conversionPending(path);
  database.execute(
    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL) STRICT",
  );
  for (const name of migrationNames()) {
    const sql = readFileSync(join(FOLDER, name), "utf8");
    const checksum = createHash("sha256").update(sql).digest("hex");
    const known = applied.get(name);
    if (known !== undefined && known !== checksum) {
      throw new MigrationError(
        "MIGRATION_CHANGED",
        `migration ${name} was changed after it had been applied to ${path}`,
        "reinstall uniknode",
      );
    }
    if (known === undefined) apply(database, { name, sql, checksum });
  }
}

/** Moves what wallets hold from their attributes to rows, in a database whose wallets were copied from an earlier one. */
export const fillHoldings = (database: Database): void => repeat(database, "027-fill-holdings.sql");

/** Counts the totals of the state after its rows were written without its store. */
export const countState = (database: Database): void => repeat(database, "030-count-state.sql");

/** Counts copied properties; repeatable. */
export const fillPropertyParts = (database: Database): void =>
  repeat(database, "034-fill-parts-of-properties.sql");

const repeat = (database: Database, name: string): void =>
  database.transaction(() => database.execute(readFileSync(join(FOLDER, name), "utf8")));

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
 * Returns true if a version before the baseline wrote the database.
 *
 * @throws {MigrationError} when it was created by a newer program
 */
export const isOlder = (database: Database, path: string): boolean =>
  isBeforeBaseline(refuseNewer(database, path));

const isBeforeBaseline = (applied: ReadonlyMap<string, string>) =>
  BEFORE_BASELINE.some((name) => applied.has(name));

const isIncomplete = (applied: ReadonlyMap<string, string>) =>
  migrationNames().some((name) => !applied.has(name));

const conversionPending = (path: string) =>
  new MigrationError(
    "MIGRATION_PENDING",
    `${path} was written by an earlier version of the program`,
    "start this version on it once, which converts it",
  );

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
    if (!acceptsOlder && isIncomplete(applied)) throw conversionPending(path);
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
function refuseNewer(database: Database, path: string): ReadonlyMap<string, string> {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
  const rows = isThere
    ? database.prepare<{ name: string; checksum: string }>("SELECT name, checksum FROM migrations").all()
    : [];
  const names = [...BEFORE_BASELINE, ...migrationNames()];
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
