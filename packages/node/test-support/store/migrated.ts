/** Databases that have all migrations. Creating their tables takes longer than most tests. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";

let template: Uint8Array | undefined;

/** Opens a database file. A new one is a copy of the first one of the worker. */
export function openMigrated(path: string, open: (path: string) => Database = openDatabase): Database {
  template ??= createTemplate();
  if (path !== ":memory:" && !existsSync(path)) writeFileSync(path, template);
  const database = open(path);
  migrate(database);
  return database;
}

function createTemplate(): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-migrated-"));
  const path = join(folder, "template.sqlite");
  const database = openDatabase(path);
  migrate(database);
  // The last connection copies the write-ahead log into the file.
  database.close();
  const content = readFileSync(path);
  rmSync(folder, { recursive: true });
  return content;
}

/** Opens a database in memory, for many runs, and returns the function that returns it with the content of a new one. */
export function openReusable(): { readonly renewed: () => Database; readonly close: () => void } {
  const database = openDatabase(":memory:");
  migrate(database);
  const tables = database
    .prepare<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name != 'migrations'",
    )
    .all()
    .map(({ name }) => name);
  const initial = tables.filter((name) => database.prepare(`SELECT 1 FROM ${name} LIMIT 1`).get());
  for (const name of initial) database.execute(`CREATE TEMP TABLE initial_${name} AS SELECT * FROM ${name}`);
  const steps = [
    ...tables.map((name) => `DELETE FROM ${name}`),
    ...initial.map((name) => `INSERT INTO ${name} SELECT * FROM initial_${name}`),
  ].map((sql) => database.prepare(sql));
  function renewed(): Database {
    database.transaction(() => {
      for (const step of steps) step.run();
    });
    return database;
  }
  return { renewed, close: () => database.close() };
}
