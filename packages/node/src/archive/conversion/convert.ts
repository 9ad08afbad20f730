/**
 * Converts the database of an earlier version (docs/decisions/0061): copies its rows to a new file, verifies the copy, and then
 * replaces the old file, which nothing has changed until then. Every step is on disk before the next one begins, so that a killed
 * conversion continues where it ended.
 */
import { existsSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { flushToDisk } from "../../platform/files/flush.ts";
import {
  BLOCK_IDS,
  isWithoutIdLevels,
  rebuildIdLevels,
  TRANSACTION_IDS,
} from "../../store/chain/id-levels.ts";
import { copyRows, copySequences } from "../../store/conversion/copy.ts";
import {
  createTables,
  currentSchemaHash,
  missingObjects,
  recordSchema,
} from "../../store/conversion/schema.ts";
import { CHAIN_COPIES, NODE_COPIES } from "../../store/conversion/tables.ts";
import { DataError } from "../../store/engine/data-error.ts";
import { type Database, openDatabase } from "../../store/engine/database.ts";
import { createMetaStore } from "../../store/node/meta.ts";
import { type ConversionDeps, verifyConversion } from "./verify.ts";

/** The new file takes less than half of the old one; sorting its indexes takes some more for a while. */
const SPACE_PART = 0.6;

/**
 * Must be called while the folder of the database is locked.
 *
 * @param path of the database; no connection may have it open
 * @throws {DataError} DISK_FULL before anything is written; DATA_DAMAGED when the copy differs; DATA_UNUSABLE when another process
 * writes to the database. The database is then unchanged
 * @throws {Error} `AbortError` when the signal is aborted
 */
export async function convertDatabase(path: string, deps: ConversionDeps): Promise<void> {
  const copy = `${path}.converted`;
  const source = describeSource(path);
  if (!isCopyOf(copy, source)) {
    removeDatabase(copy);
    requireSpace(path);
  }
  if (!isComplete(copy)) {
    await fill(copy, path, source, deps).catch((error) => {
      // The next attempt begins anew: the copy may be damaged, and not the database.
      if (error instanceof DataError && error.code === "DATA_DAMAGED") removeDatabase(copy);
      throw error;
    });
  }
  flushToDisk(copy);
  removeLog(path);
  renameSync(copy, path);
  flushToDisk(dirname(path));
}

/** Returns true if the copy is verified, and only has to be renamed. */
const isComplete = (copy: string): boolean =>
  reading(copy, (database) => !hasTable(database, "conversion_source")) ?? false;

/** Returns text that changes when an earlier version has written to its database, or this version has another schema. */
function describeSource(path: string): string {
  const database = openDatabase(path);
  // Afterwards, the file alone contains all rows.
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  const { size, mtimeMs } = statSync(path);
  return JSON.stringify({ size, mtimeMs, schema: currentSchemaHash() });
}

/** Returns true if the file is a copy of this state of the database: an earlier version may have been started since. */
const isCopyOf = (copy: string, source: string): boolean => reading(copy, sourceOf) === source;

function sourceOf(database: Database): string | undefined {
  if (hasTable(database, "conversion_source"))
    return database.prepare<{ source: string }>("SELECT source FROM conversion_source").get()?.source;
  return hasTable(database, "meta") ? createMetaStore(database).read("convertedFrom") : undefined;
}

/** Returns undefined if there is no file. */
function reading<T>(path: string, read: (database: Database) => T): T | undefined {
  if (!existsSync(path)) return undefined;
  const database = openDatabase(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

const hasTable = (database: Database, name: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;

function requireSpace(path: string): void {
  const needed = statSync(path).size * SPACE_PART;
  const { bavail, bsize } = statfsSync(dirname(path));
  if (bavail * bsize >= needed) return;
  throw new DataError(
    "DISK_FULL",
    `the conversion of ${path} needs ${Math.ceil(needed / 1e6)} MB on its disk until it is complete, and ${Math.floor((bavail * bsize) / 1e6)} MB are free: free some space, or move the data folder to a larger disk`,
  );
}

async function fill(copy: string, path: string, source: string, deps: ConversionDeps): Promise<void> {
  const database = openDatabase(copy);
  try {
    if (!hasTable(database, "conversion_source")) begin(database, source);
    database.execute("PRAGMA foreign_keys = OFF");
    database.prepare("ATTACH ? AS source").run(path);
    await copyAll(database, deps);
    await createMissing(database, deps);
    database.execute("DETACH source");
    await verifyConversion(database, path, deps);
    database.transaction(() => {
      recordSchema(database);
      createMetaStore(database).write("convertedFrom", source);
      database.execute("DROP TABLE conversion; DROP TABLE conversion_source");
    });
  } finally {
    database.close();
  }
}

function begin(database: Database, source: string): void {
  database.transaction(() => {
    createTables(database);
    database.execute("CREATE TABLE conversion_source (source TEXT NOT NULL) STRICT");
    database.prepare("INSERT INTO conversion_source VALUES (?)").run(source);
  });
}

async function copyAll(database: Database, { signal, onProgress }: ConversionDeps): Promise<void> {
  for (const { copied, total } of copyRows(database, [...CHAIN_COPIES, ...NODE_COPIES])) {
    onProgress("copying rows", copied / total);
    await turn();
    signal.throwIfAborted();
  }
  copySequences(database);
}

/** Indexes of complete tables are sorted once, which takes a fraction of the time of their growth. */
async function createMissing(database: Database, { signal, onProgress }: ConversionDeps): Promise<void> {
  const steps = [
    ...[BLOCK_IDS, TRANSACTION_IDS]
      .filter((index) => isWithoutIdLevels(database, index))
      .map((index) => () => rebuildIdLevels(database, index)),
    ...missingObjects(database).map((object) => () => database.execute(object.sql)),
  ];
  for (const [index, create] of steps.entries()) {
    onProgress("creating indexes", index / steps.length);
    await turn();
    signal.throwIfAborted();
    create();
  }
}

/** Removes the write-ahead log of the old file: SQLite would copy it into the new one. */
function removeLog(path: string): void {
  const log = `${path}-wal`;
  if (existsSync(log) && statSync(log).size > 0) {
    throw new DataError("DATA_UNUSABLE", `another process has ${path} open: end it, then start again`);
  }
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}
