/** Checkpoints in their own thread: no commit waits for them, and the log stays bounded. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTick, setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startCheckpoints } from "../../../src/store/engine/checkpoints.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";

/** Pages beyond which a connection with default settings runs a checkpoint in its commit. */
const PAGES_OF_DEFAULT = 16_000;
const ROW = "x".repeat(3_500);

let folder: string;
let path: string;
let database: Database;
let end: () => Promise<void>;
let errors: unknown[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-checkpoints-"));
  path = join(folder, "node.sqlite");
  errors = [];
  left = [];
  open(false);
});
afterEach(async () => {
  await end();
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(makesCheckpoints: boolean): void {
  database = openDatabase(path, { makesCheckpoints });
  database.execute("CREATE TABLE IF NOT EXISTS rows (text TEXT)");
  end = async () => {};
}

/** Pages that were not copied when this thread began a checkpoint. */
let left: number[];

function start(pages: number, maxPages: number, databasePath = path, restPages = 1_000): void {
  const { logPages } = database;
  const checkpoint = () => {
    left.push(logPages().total - logPages().copied);
    database.checkpoint();
  };
  end = startCheckpoints(
    { pages, maxPages, restPages, intervalMs: 5 },
    { database: { logPages, checkpoint }, databasePath, onError: (error) => errors.push(error) },
  );
}

/** Writes about this number of pages. */
const write = (pages: number) =>
  database.transaction(() => {
    const insert = database.prepare("INSERT INTO rows VALUES (?)");
    for (let row = 0; row < pages; row++) insert.run(ROW);
  }, "process death");

/** Writes until the log has begun anew five times. How long it is by then depends on the time that the other thread gets. */
async function beginAgain(pages: number, pause: () => Promise<unknown>): Promise<void> {
  for (let last = 0, restarts = 0; restarts < 5; last = database.logPages().total) {
    write(pages);
    if (database.logPages().total < last) restarts++;
    await pause();
  }
}

test("A commit that makes the log long copies it, unless another thread runs checkpoints.", () => {
  write(PAGES_OF_DEFAULT + 100);
  expect(database.logPages().copied).toBe(0);
  database.close();
  open(true);
  write(PAGES_OF_DEFAULT + 100);
  expect(database.logPages().copied).toBeGreaterThan(PAGES_OF_DEFAULT);
});

test("A long log is copied by another thread, and a short one is not.", async () => {
  start(200, 10_000);
  write(100);
  await expect.poll(() => database.logPages().total).toBeGreaterThan(100);
  expect(database.logPages().copied).toBe(0);
  write(200);
  await expect.poll(() => database.logPages().copied).toBeGreaterThan(300);
  // The next commit starts at the beginning of the log.
  write(1);
  expect(database.logPages().total).toBeLessThan(20);
  expect(errors).toEqual([]);
});

test("The log begins anew again and again while commits follow one another.", async () => {
  start(200, 2_000);
  await beginAgain(50, nextTick);
  expect(errors).toEqual([]);
});

test("With constant commits, the log starts again, although the other thread never copies its last pages.", async () => {
  start(200, 100_000);
  await beginAgain(15, () => setTimeout(1));
  expect(errors).toEqual([]);
});

test("Without the other thread, this one copies the log when it is too long, and the error is reported.", async () => {
  start(100, 500, join(folder, "missing", "node.sqlite"));
  write(150);
  await expect.poll(() => errors.length).toBeGreaterThan(0);
  expect(database.logPages().copied).toBe(0);
  write(500);
  await expect.poll(() => database.logPages().copied).toBeGreaterThan(500);
});

test("Pages that waited for a long reader are copied by the other thread.", async () => {
  const reader = openDatabase(path, { makesCheckpoints: false });
  reader.execute("BEGIN");
  reader.prepare("SELECT count(*) FROM rows").get();
  start(100, 500, path, 50);
  for (let commit = 0; commit < 20; commit++) {
    write(100);
    await setTimeout(10);
  }
  reader.execute("COMMIT");
  await expect.poll(() => database.logPages().copied).toBeGreaterThan(2_000);
  reader.close();
  expect(Math.max(0, ...left)).toBeLessThanOrEqual(50);
  expect(errors).toEqual([]);
});

test("A checkpoint that cannot copy is not repeated at once.", async () => {
  start(100, 10_000, join(folder, "missing", "node.sqlite"));
  write(150);
  await expect.poll(() => errors.length).toBeGreaterThan(0);
  const startedMs = performance.now();
  await setTimeout(500);
  expect(errors.length).toBeLessThanOrEqual(2 + (performance.now() - startedMs) / 100);
});

test("Closing waits for a running checkpoint.", async () => {
  start(1, 10_000);
  write(3_000);
  await setTimeout(20);
  await end();
  const { total, copied } = database.logPages();
  expect([0, total]).toContain(copied);
  expect(existsSync(path)).toBe(true);
});
