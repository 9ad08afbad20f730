import { afterAll, expect, test } from "vitest";
import { SnapshotError } from "../../../../src/read/errors.ts";
import { createReadTime } from "../../../../src/read/sqlite/pages/read-time.ts";
import { openDatabase } from "../../../../src/store/engine/database.ts";

const database = openDatabase(":memory:");
afterAll(() => database.close());

const MANY_ROWS = `WITH RECURSIVE rows (number) AS (
  SELECT 1 UNION ALL SELECT number + 1 FROM rows WHERE number < 5000
) SELECT COUNT(*) AS count FROM rows WHERE in_time()`;

function count(maxMs: number, before = () => {}) {
  const time = createReadTime(database, maxMs);
  const select = database.prepare<{ count: number }>(MANY_ROWS);
  time.begin();
  before();
  return select.get();
}

test("Reads end that look at more rows than they have time for, and others go on.", () => {
  expect(() => count(-1)).toThrow(SnapshotError);
  expect(count(60_000)).toEqual({ count: 5000 });
});

test("The time in which the machine was busy with something else does not count.", () => {
  const maxMs = 200;
  const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * maxMs);
  expect(count(maxMs, () => void pause())).toEqual({ count: 5000 });
});
