import { beforeEach, expect, test } from "vitest";
import { SnapshotError } from "../../../../src/read/errors.ts";
import type { Direction } from "../../../../src/read/page.ts";
import type { Condition } from "../../../../src/read/sqlite/pages/conditions.ts";
import { createTallies, type Tallies } from "../../../../src/read/sqlite/pages/tallies.ts";
import { type Database, openDatabase } from "../../../../src/store/engine/database.ts";
import { migrate } from "../../../../src/store/engine/migrations.ts";
import { createSnapshot } from "../../../../test-support/snapshot.ts";

let database: Database;
let tally: Tallies;
let snapshot: ReturnType<typeof createSnapshot>;
beforeEach(() => {
  database = openDatabase(":memory:");
  migrate(database);
  snapshot = createSnapshot(database, 10_000);
  tally = createTallies(database, { table: "transactions", key: ["height", "sequence"] });
});

/** Blocks of a branch, so many transactions in each, every third of type 1. */
function append(branch: string, from: number, to: number, perBlock: number): void {
  database.transaction(() => {
    for (let height = from; height <= to; height++) {
      database
        .prepare(`INSERT INTO blocks VALUES (?, ?, 0, ?, ?, 0, 0, 0, 'g', '', 0, '', '', x'')`)
        .run(height, `${branch}${height}`, height, perBlock);
      for (let sequence = 0; sequence < perBlock; sequence++) {
        const id = `${branch}${height}-${sequence}`;
        const recipient = sequence % 2 === 0 ? "even" : null;
        database
          .prepare(
            `INSERT INTO transactions VALUES (?, ?, ?, 2, 1, ?, 's', ?, 1, 0, 1, ?, NULL, NULL, '', NULL, x'')`,
          )
          .run(height, sequence, id, (height + sequence) % 3 === 0 ? 1 : 0, recipient, height);
      }
    }
  });
}

function revertTo(height: number): void {
  database.prepare("DELETE FROM transactions WHERE height > ?").run(height);
  database.prepare("DELETE FROM blocks WHERE height > ?").run(height);
}

const FILTERS: Condition[][][] = [
  [[{ sql: "type_group = ? AND type = ?", values: [1, 0] }]],
  [[{ sql: "type = ?", values: [1] }]],
  [[{ sql: "recipient = ?", values: ["even"] }], [{ sql: "type = ?", values: [1] }]],
  [[{ sql: "sender = ?", values: ["unknown"] }]],
];

const textOf = (alternatives: Condition[][]) =>
  alternatives.map((tests) => `(${tests.map(({ sql }) => sql).join(" AND ")})`).join(" OR ");
const valuesOf = (alternatives: Condition[][]) => alternatives.flat().flatMap(({ values }) => values);

/** What tallies say leads to the very rows that walking over all of them leads to. */
function check(): void {
  snapshot((head) => {
    for (const alternatives of FILTERS) {
      const { totalCount, startOf } = tally(head, alternatives);
      const rows = (direction: Direction, offset: number, from?: Condition) =>
        database
          .prepare<{ id: string }>(
            `SELECT id FROM transactions WHERE (${textOf(alternatives)}) AND ${from?.sql ?? "TRUE"}
             ORDER BY height ${direction}, sequence DESC LIMIT 20 OFFSET ?`,
          )
          .all(...valuesOf(alternatives), ...(from?.values ?? []), offset)
          .map(({ id }) => id);
      const { total } = database
        .prepare<{ total: number }>(
          `SELECT COUNT(*) AS total FROM transactions WHERE ${textOf(alternatives)}`,
        )
        .get(...valuesOf(alternatives))!;
      expect(totalCount).toBe(total);
      for (const direction of ["asc", "desc"] as const) {
        for (let offset = 0; offset < total; offset += 517) {
          const { from, offset: rest } = startOf(direction, offset);
          expect(rows(direction, rest, from)).toEqual(rows(direction, offset));
          expect(rest).toBeLessThan(400);
        }
      }
    }
  });
}

test("count as the table does, while blocks are added and taken away", () => {
  append("a", 1, 60, 100);
  check();
  append("a", 61, 61, 3);
  check();
  append("a", 62, 130, 40);
  check();
  revertTo(55);
  append("b", 56, 131, 30);
  check();
  revertTo(130);
  check();
  revertTo(1);
  check();
});

test("go on where the time was up", () => {
  append("a", 1, 100, 100);
  const hurried = createSnapshot(database, -1);
  expect(() => hurried((head) => tally(head, FILTERS[0]!))).toThrow(SnapshotError);
  snapshot = createSnapshot(database, 10_000);
  check();
});

test("go on where the time was up before anything was found", () => {
  append("a", 1, 100, 100);
  // A third of the looks that all rows take.
  let looks = 0;
  database.define("in_time", () => {
    looks += 1;
    if (looks > 50) throw new Error("given up");
    return 1;
  });
  const attempt = () => {
    looks = 0;
    return snapshot((head) => tally(head, [[{ sql: "fee = ?", values: [7] }]]).totalCount);
  };
  let attempts = 1;
  for (; attempts < 20; attempts++) {
    try {
      expect(attempt()).toBe(0);
      break;
    } catch (error) {
      expect(error).toMatchObject({ message: "given up" });
    }
  }
  expect(attempts).toBeGreaterThan(1);
  expect(attempts).toBeLessThan(20);
});

test("end however often the time was up before", () => {
  // So many rows that the clock is looked at in each of the blocks.
  append("a", 1, 2, 5_000);
  let isUp = true;
  database.define("in_time", () => {
    if (isUp) throw new Error("given up");
    return 1;
  });
  const total = () => snapshot((head) => tally(head, [[{ sql: "fee = ?", values: [7] }]]).totalCount);
  for (let attempt = 0; attempt < 300; attempt++) expect(total).toThrow("given up");
  isUp = false;
  expect(total()).toBe(0);
});

test("count each block once", () => {
  const counted: number[] = [];
  const watched: Database = {
    ...database,
    prepare<Row>(sql: string) {
      const statement = database.prepare<Row & { height: number }>(sql);
      return {
        ...statement,
        get: (...values) => statement.get(...values),
        *iterate(...values) {
          for (const row of statement.iterate(...values)) {
            counted.push(row.height);
            yield row;
          }
        },
      };
    },
  };
  tally = createTallies(watched, { table: "transactions", key: ["height", "sequence"] });
  const total = () => snapshot((head) => tally(head, FILTERS[1]!).totalCount);
  append("a", 1, 4, 3);
  expect([total(), total()]).toEqual([4, 4]);
  expect(counted).toEqual([1, 2, 3, 4]);
  append("a", 5, 6, 3);
  expect(total()).toBe(6);
  expect(counted).toEqual([1, 2, 3, 4, 5, 6]);
});
