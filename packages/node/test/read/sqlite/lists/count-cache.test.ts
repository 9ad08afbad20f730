import { beforeEach, expect, test } from "vitest";
import { present } from "../../../../src/platform/present.ts";
import type { Direction } from "../../../../src/read/page.ts";
import { type Head, SnapshotError } from "../../../../src/read/port.ts";
import { accessPathsOf } from "../../../../src/read/sqlite/lists/access-paths.ts";
import { type Condition, indexed } from "../../../../src/read/sqlite/lists/conditions.ts";
import { IncrementalCounts, startAt } from "../../../../src/read/sqlite/lists/count-cache.ts";
import { Chunks, TimeBox } from "../../../../src/read/sqlite/lists/time-box.ts";
import { type Database, openDatabase } from "../../../../src/store/engine/database.ts";
import { migrate } from "../../../../src/store/engine/migrations.ts";
import { createSnapshot } from "../../../../test-support/snapshot.ts";
import { createInventedBlocks } from "../../../../test-support/store/invented-blocks.ts";
import { createInventedTransactions } from "../../../../test-support/store/invented-transactions.ts";

let database: Database;
let counts: IncrementalCounts;
let snapshot: ReturnType<typeof createSnapshot>;
beforeEach(() => {
  database = openDatabase(":memory:");
  migrate(database);
  open(new TimeBox(10_000));
});

const TABLE = { table: "transactions", key: ["height", "sequence"] } as const;

/** Creates the counts again, with a given time limit for each work. */
function open(time: TimeBox): void {
  snapshot = createSnapshot(database, time);
  counts = new IncrementalCounts(database, new Chunks(database, time), TABLE);
}

/** Blocks of a branch, with a number of transactions in each, every third of type 1. */
function append(branch: string, from: number, to: number, perBlock: number): void {
  const insertBlock = createInventedBlocks(database);
  const insert = createInventedTransactions(database);
  database.transaction(() => {
    for (let height = from; height <= to; height++) {
      insertBlock({ height, id: `${branch}${height}`, timestamp: height, numberOfTransactions: perBlock });
      for (let sequence = 0; sequence < perBlock; sequence++) {
        const recipient = sequence % 2 === 0 ? "even" : null;
        insert({ height, sequence, type: (height + sequence) % 3 === 0 ? 1 : 0, recipient });
      }
    }
  });
}

function revertTo(height: number): void {
  database.prepare("DELETE FROM transactions WHERE height > ?").run(height);
  database.prepare("DELETE FROM blocks WHERE height > ?").run(height);
}

/** Any one of the conditions matches. */
const FILTERS: Condition[][] = [
  [indexed({ sql: "type_group = ? AND type = ?", values: [1, 0] }, "many")],
  [{ sql: "type = ?", values: [1] }],
  [
    indexed(
      { sql: "recipient = (SELECT number FROM recipients WHERE address = ?)", values: ["even"] },
      "some",
    ),
    { sql: "type = ?", values: [1] },
  ],
  [indexed({ sql: "sender = ?", values: [1_000] }, "some")],
  [
    {
      ...indexed({ sql: "fee = 1 AND type = ?", values: [0] }, "some"),
      index: { selectivity: "some", wider: { sql: "fee = 1", values: [] } },
    },
  ],
];
const incrementalCountOf = (head: Head, alternatives: Condition[]) =>
  counts.count(head, accessPathsOf({ conditions: [], alternatives }));

const textOf = (alternatives: Condition[]) => alternatives.map(({ sql }) => `(${sql})`).join(" OR ");
const valuesOf = (alternatives: Condition[]) => alternatives.flatMap(({ values }) => values);

/** Incremental counts lead to the same rows as a complete scan. */
function check(): void {
  snapshot((head) => {
    for (const alternatives of FILTERS) {
      const { totalCount, entries } = incrementalCountOf(head, alternatives);
      const rows = (direction: Direction, offset: number, from?: Condition) =>
        database
          .prepare<{ id: string }>(
            `SELECT id_text AS id FROM transactions WHERE (${textOf(alternatives)}) AND ${from?.sql ?? "TRUE"}
             ORDER BY height ${direction}, sequence DESC LIMIT 20 OFFSET ?`,
          )
          .all(...valuesOf(alternatives), ...(from?.values ?? []), offset)
          .map(({ id }) => id);
      const { total } = present(
        database
          .prepare<{ total: number }>(
            `SELECT COUNT(*) AS total FROM transactions WHERE ${textOf(alternatives)}`,
          )
          .get(...valuesOf(alternatives)),
        "a row",
      );
      expect(totalCount).toBe(total);
      for (const direction of ["asc", "desc"] as const) {
        for (let offset = 0; offset < total; offset += 517) {
          const { from, offset: rest } = startAt(entries, totalCount, direction, offset);
          expect(rows(direction, rest, from)).toEqual(rows(direction, offset));
          expect(rest).toBeLessThan(400);
        }
      }
    }
  });
}

test("Cached counts equal those of the table, while blocks are added and reverted.", () => {
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

/** Time limit that allows a number of checks of the clock. */
class CountedChecks extends TimeBox {
  readonly #count: number;
  #left = 0;

  constructor(count: number) {
    super(0);
    this.#count = count;
  }

  override begin(): void {
    this.#left = this.#count;
  }

  override check(): number {
    if (this.#left-- === 0) throw new SnapshotError("SNAPSHOT_TIMEOUT");
    return 2;
  }
}

test("Cached counts resume at the time limit, whether or not a row was found.", () => {
  append("a", 1, 100, 100);
  for (const [filter, total] of [
    [present(FILTERS[1], "an item of FILTERS"), 3333],
    [[{ sql: "fee = ?", values: [7] }], 0],
  ] as const) {
    open(new CountedChecks(5));
    const attempt = () => snapshot((head) => incrementalCountOf(head, [...filter]).totalCount);
    let failures = 0;
    for (let result: number | undefined; result === undefined; ) {
      try {
        result = attempt();
        expect(result).toBe(total);
      } catch (error) {
        expect(error).toBeInstanceOf(SnapshotError);
        failures += 1;
      }
    }
    // Chunks of 64 rows, and the rest of a block: five of them each time.
    expect(failures).toBe(20);
  }
});

test("Cached counts keep nothing if there was no time at all.", () => {
  append("a", 1, 100, 100);
  open(new CountedChecks(0));
  for (let attempt = 0; attempt < 3; attempt++) {
    expect(() =>
      snapshot((head) => incrementalCountOf(head, present(FILTERS[0], "an item of FILTERS"))),
    ).toThrow(SnapshotError);
  }
  open(new TimeBox(10_000));
  check();
});

test("Cached counts include each block once.", () => {
  const counted: number[] = [];
  const watched: Database = {
    ...database,
    prepare<Row>(sql: string) {
      const statement = database.prepare<Row & { height: number }>(sql);
      return {
        ...statement,
        get: (...values) => statement.get(...values),
        all(...values) {
          const rows = statement.all(...values);
          counted.push(...rows.map(({ height }) => height));
          return rows;
        },
      };
    },
  };
  const time = new TimeBox(10_000);
  snapshot = createSnapshot(database, time);
  counts = new IncrementalCounts(watched, new Chunks(database, time), TABLE);
  const total = () =>
    snapshot((head) => incrementalCountOf(head, present(FILTERS[1], "an item of FILTERS")).totalCount);
  append("a", 1, 4, 3);
  expect([total(), total()]).toEqual([4, 4]);
  expect(counted).toEqual([1, 2, 3, 4]);
  append("a", 5, 6, 3);
  expect(total()).toBe(6);
  expect(counted).toEqual([1, 2, 3, 4, 5, 6]);
});
