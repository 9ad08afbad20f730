/** Numbered SQL files, each applied once and recorded with its checksum, as in the node's database. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "../platform/coded-error.ts";
import type { Postgres } from "./connection.ts";
import { sqlStateOf } from "./postgres-error.ts";

const FOLDER = join(import.meta.dirname, "schema");

/** The schema of the database does not match this program. A retry never succeeds. */
export class SchemaError extends CodedError<"SCHEMA_CHANGED" | "SCHEMA_NEWER" | "SCHEMA_OLDER"> {
  constructor(code: SchemaError["code"], message: string) {
    super(code, message, { isRetryable: false });
  }
}

type Migration = { readonly name: string; readonly sql: string; readonly checksum: string };

const migrations = (): Migration[] =>
  readdirSync(FOLDER)
    .filter((name) => /^\d+-.*\.sql$/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(join(FOLDER, name), "utf8");
      return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    });

/** Returns the SQL that creates the indexes and the statistics of filled tables. */
export const indexSql = (): string => readFileSync(join(FOLDER, "indexes.sql"), "utf8");

/**
 * Brings the schema up to date. Concurrent calls wait for each other.
 *
 * @throws {SchemaError} SCHEMA_NEWER, SCHEMA_CHANGED; then nothing was changed
 */
export async function migrate(postgres: Postgres): Promise<void> {
  try {
    await applyMissing(postgres);
  } catch (error) {
    if (!CREATED_MEANWHILE.includes(sqlStateOf(error) ?? "")) throw error;
    // Another call has created the table that calls lock.
    await applyMissing(postgres);
  }
}

/** SQLSTATEs of two calls that create the same table: the names of its type, or of the table, are taken. */
const CREATED_MEANWHILE = ["23505", "42P07"];

async function applyMissing(postgres: Postgres): Promise<void> {
  await postgres.transaction("READ WRITE", async ({ query, change, build }) => {
    await change("CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, checksum text NOT NULL)");
    // It waits for the migrations of another process.
    await build("LOCK TABLE migrations IN EXCLUSIVE MODE");
    const applied = await query<{ name: string; checksum: string }>("SELECT name, checksum FROM migrations");
    const missing = unapplied(applied);
    for (const { name, sql, checksum } of missing) {
      await build(sql);
      await change("INSERT INTO migrations VALUES ($1, $2)", [name, checksum]);
    }
  });
}

/**
 * Checks that a database has the schema of this program, without changing it.
 *
 * @throws {SchemaError}
 */
export async function checkSchema(postgres: Postgres): Promise<void> {
  const [table] = await postgres.query(
    "SELECT 1 FROM pg_tables WHERE tablename = 'migrations' AND schemaname = current_schema()",
  );
  const applied = table
    ? await postgres.query<{ name: string; checksum: string }>("SELECT name, checksum FROM migrations")
    : [];
  const [missing] = unapplied(applied);
  if (!missing) return;
  throw new SchemaError(
    "SCHEMA_OLDER",
    `the database lacks migration ${missing.name}: start "uniknode mirror" of this version first`,
  );
}

function unapplied(applied: readonly { readonly name: string; readonly checksum: string }[]): Migration[] {
  const known = migrations();
  const unknown = applied.find(({ name }) => !known.some((migration) => migration.name === name));
  if (unknown) {
    throw new SchemaError(
      "SCHEMA_NEWER",
      `the database was written by a newer version of the program (migration ${unknown.name}): start that version`,
    );
  }
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const changed = known.find(({ name, checksum }) => (checksums.get(name) ?? checksum) !== checksum);
  if (changed) {
    throw new SchemaError(
      "SCHEMA_CHANGED",
      `migration ${changed.name} was changed after it had been applied: reinstall uniknode`,
    );
  }
  return known.filter(({ name }) => !checksums.has(name));
}
