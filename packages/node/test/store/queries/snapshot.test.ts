import { afterAll, expect, test } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { migrate } from "../../../src/store/migrations.ts";
import { createSnapshot, perHead, SnapshotError } from "../../../src/store/queries/snapshot.ts";

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
