import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import {
  createSharedSnapshots,
  createSnapshot,
  perHead,
  SnapshotError,
} from "../../../src/read/sqlite/snapshot.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";

const database = openDatabase(":memory:");
migrate(database);
afterAll(() => database.close());

const MANY_ROWS = `WITH RECURSIVE rows (number) AS (
  SELECT 1 UNION ALL SELECT number + 1 FROM rows WHERE number < 5000
) SELECT COUNT(*) AS count FROM rows WHERE in_time()`;

test("ends reads that look at more rows than they have time for", () => {
  const snapshot = createSnapshot(database, -1);
  const count = database.prepare<{ count: number }>(MANY_ROWS);
  expect(() => snapshot(() => count.get())).toThrow(SnapshotError);
  // What comes after it is not touched.
  expect(snapshot((head) => head)).toBeUndefined();
});

test("lets reads be that end in time", () => {
  const snapshot = createSnapshot(database, 60_000);
  const count = database.prepare<{ count: number }>(MANY_ROWS);
  expect(snapshot(() => count.get())).toEqual({ count: 5000 });
});

test("does not count the time in which the machine was busy with something else", () => {
  const maxMs = 200;
  const snapshot = createSnapshot(database, maxMs);
  const count = database.prepare<{ count: number }>(MANY_ROWS);
  const found = snapshot(() => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * maxMs);
    return count.get();
  });
  expect(found).toEqual({ count: 5000 });
});

test("passes on what the work throws, and can be used again", () => {
  const snapshot = createSnapshot(database, 60_000);
  expect(() =>
    snapshot(() => {
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(snapshot(() => 1)).toBe(1);
});

test("computes once for each head", () => {
  let count = 0;
  const counted = perHead(() => ++count);
  const head = (id: string) => ({ id, height: 1, timestamp: 0 });
  expect([counted(head("a")), counted(head("a")), counted(head("b")), counted(head("a"))]).toEqual([
    1, 1, 2, 3,
  ]);
});

describe("a turn of the event loop", () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-turns-"));
  const path = join(folder, "chain.sqlite");
  const writer = openDatabase(path);
  migrate(writer);
  const insert = writer.prepare(
    `INSERT INTO blocks (height, id, version, timestamp, number_of_transactions, total_amount, total_fee, reward,
       generator, previous, payload_length, payload_hash, signature, header)
     VALUES (?, ?, 0, 0, 0, 0, 0, 0, '', '', 0, '', '', x'')`,
  );
  const append = (height: number) => insert.run(height, `block ${height}`);
  append(1);
  afterAll(() => {
    writer.close();
    rmSync(folder, { recursive: true });
  });

  test("sees one state, and the next one what was written since", async () => {
    const reader = openDatabase(path, { readonly: true });
    const shared = createSharedSnapshots(reader, 60_000);
    const heights = () => [shared.head()?.height, shared.snapshot((head) => head?.height)];
    expect(heights()).toEqual([1, 1]);
    append(2);
    expect(heights()).toEqual([1, 1]);
    await nextTurn();
    expect(heights()).toEqual([2, 2]);
    shared.end();
    reader.close();
  });

  test("gives each work the whole time, and goes on after one that took too long", () => {
    const reader = openDatabase(path, { readonly: true });
    const shared = createSharedSnapshots(reader, -1);
    const count = reader.prepare<{ count: number }>(MANY_ROWS);
    expect(() => shared.snapshot(() => count.get())).toThrow(SnapshotError);
    expect(shared.snapshot(() => 1)).toBe(1);
    shared.end();
    reader.close();
  });

  test("leaves nothing open that keeps a connection from being closed", async () => {
    const reader = openDatabase(path, { readonly: true });
    const shared = createSharedSnapshots(reader, 60_000);
    shared.head();
    shared.end();
    shared.end();
    reader.close();
    // What would end the turn by itself finds nothing to do.
    await nextTurn();
  });
});
