/** Pages of time-boxed scans equal those of one statement. */

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { present } from "../../../../src/platform/present.ts";
import type { Range } from "../../../../src/read/page.ts";
import { SnapshotError } from "../../../../src/read/port.ts";
import {
  accessPathsOf,
  fromText,
  inRange,
  type Selection,
} from "../../../../src/read/sqlite/lists/access-paths.ts";
import {
  type Condition,
  heightConditions,
  indexed,
  type OrderTerm,
} from "../../../../src/read/sqlite/lists/conditions.ts";
import { CountCache } from "../../../../src/read/sqlite/lists/count-cache.ts";
import { Scans } from "../../../../src/read/sqlite/lists/scans.ts";
import { Chunks, TimeBox } from "../../../../src/read/sqlite/lists/time-box.ts";
import { openDatabase } from "../../../../src/store/engine/database.ts";
import {
  createNumberLookup,
  Dictionary,
  RECIPIENTS,
  SENDERS,
} from "../../../../src/store/engine/dictionary.ts";
import { migrate } from "../../../../src/store/engine/migrations.ts";
import { createInventedTransactions } from "../../../../test-support/store/invented-transactions.ts";

const TRANSACTIONS = {
  table: "transactions",
  key: ["height", "sequence"],
  columns: "id_text AS id, amount",
} as const;
const WALLETS = { table: "wallets", key: ["address"], columns: "address, username" } as const;
const TINY = { initial: 2, min: 1, max: 5 };
const [HEIGHTS, WALLET_COUNT] = [40, 150];

const database = openDatabase(":memory:");
migrate(database);
afterAll(() => database.close());
const senderKey = (index: number) => `0${index}`;
const AMOUNTS = [0n, 1n, 7n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n];
database.transaction(() => {
  const insert = createInventedTransactions(database);
  const recipients = new Dictionary(database, RECIPIENTS);
  const pay = database.prepare("INSERT INTO payees VALUES (?, ?, ?)");
  for (let height = 1; height <= HEIGHTS; height++) {
    for (let sequence = 0; sequence < (height * 7) % 10; sequence++) {
      const number = height * 10 + sequence;
      insert({
        ...{ height, sequence, type: number % 2, fee: number % 2 },
        ...{ sender: senderKey(number % 3), recipient: number % 4 === 0 ? null : `r${number % 5}` },
        amount: present(AMOUNTS[number % AMOUNTS.length], "an item of AMOUNTS"),
        vendorField: number % 3 === 0 ? null : `text ${number % 4}`,
        isAlive: number % 6 === 0,
      });
      if (number % 4 === 1) pay.run(recipients.numberOf(`r${number % 3}`), height, sequence);
    }
  }
  const open = database.prepare("INSERT INTO wallets VALUES (?, NULL, ?, ?, ?, ?, NULL, '{}')");
  for (let number = 0; number < WALLET_COUNT; number++) {
    const username = number % 4 === 0 ? `name ${number % 8}` : null;
    open.run(
      `a${number}`,
      present(AMOUNTS[number % AMOUNTS.length], "an item of AMOUNTS"),
      number % 3,
      `v${number % 2}`,
      username,
    );
  }
});

const some = (sql: string, ...values: (string | number | bigint)[]) => indexed({ sql, values }, "some");
const numberOfSender = createNumberLookup(database, SENDERS);
const numberOfRecipient = createNumberLookup(database, RECIPIENTS);
const sentBy = (index: number) =>
  some("sender = ?", present(numberOfSender(senderKey(index)), "the number of a sender"));
const receivedBy = (address: string) =>
  some("recipient = ?", present(numberOfRecipient(address), "the number of a recipient"));
const PAID: Condition = {
  sql: `EXISTS (SELECT 1 FROM payees WHERE payee = ${numberOfRecipient("r1")}
    AND payees.height = transactions.height AND payees.sequence = transactions.sequence)`,
  values: [],
  index: {
    selectivity: "some",
    through: { table: "payees", sql: `payee = ${numberOfRecipient("r1")}` },
  },
};
const ALIVE: Condition = {
  sql: "is_alive = 1 AND (type = ? OR height < ?)",
  values: [1, 30],
  index: { selectivity: "some", wider: { sql: "is_alive = 1", values: [] } },
};
const RICH: Condition = {
  sql: "wallets.balance >= ?",
  values: [2n ** 53n],
  index: { selectivity: "some", sortedBy: ["wallets.balance", "address"] },
};
type Asked = Pick<Selection, "conditions" | "alternatives">;
const ASKED: Record<"transactions" | "wallets", Asked[]> = {
  transactions: [
    { conditions: [] },
    { conditions: [{ sql: "amount > ?", values: [1] }] },
    { conditions: [sentBy(1)] },
    { conditions: [sentBy(1), { sql: "fee = ?", values: [1] }] },
    {
      conditions: [indexed({ sql: "type_group = 1 AND type = ?", values: [0] }, "many"), sentBy(2)],
    },
    { conditions: heightConditions({ low: 7, high: 31 }) },
    { conditions: [...heightConditions({ low: 4, high: 35 }), { sql: "fee = ?", values: [0] }] },
    { conditions: [], alternatives: [sentBy(1), receivedBy("r1"), PAID, ALIVE] },
    {
      conditions: [{ sql: "fee = ?", values: [0] }],
      alternatives: [PAID, ALIVE, receivedBy("r2")],
    },
    { conditions: [{ sql: "FALSE", values: [] }] },
  ],
  wallets: [
    { conditions: [] },
    { conditions: [{ sql: "username IS NOT NULL", values: [] }] },
    { conditions: [some("vote = ?", "v1")] },
    { conditions: [some("vote = ?", "v1"), { sql: "nonce = ?", values: [1] }] },
    { conditions: [RICH] },
    { conditions: [RICH, { sql: "username IS NULL", values: [] }] },
  ],
};
type Direction = OrderTerm["direction"];
const by = (value: string, direction: Direction, kind: OrderTerm["kind"] = "integer"): OrderTerm => ({
  ...{ value, direction, kind },
  name: value.replace(" IS NULL", ""),
});
const DIRECTIONS = ["asc", "desc"] as const;
const ORDERS: Record<"transactions" | "wallets", OrderTerm[][]> = {
  transactions: DIRECTIONS.flatMap((direction) => [
    [by("height", direction), by("sequence", "desc")],
    [by("height", direction), by("sequence", "asc")],
    [by("transactions.amount", direction), by("height", "desc"), by("sequence", "desc")],
    [
      by("vendor_field IS NULL", direction, "absence"),
      by("vendor_field", direction, "bytes"),
      by("height", "desc"),
      by("sequence", "asc"),
    ],
  ]),
  wallets: DIRECTIONS.flatMap((direction) => [
    [by("address", direction, "text")],
    [by("wallets.balance", direction), by("address", direction, "text")],
    [
      by("username IS NULL", "asc", "absence"),
      by("username", direction, "text"),
      by("address", "asc", "text"),
    ],
  ]),
};

const head = { id: "head", height: HEIGHTS, timestamp: 0 };

function open(listed: typeof TRANSACTIONS | typeof WALLETS, time: TimeBox) {
  const chunks = new Chunks(database, time, TINY);
  return {
    scans: new Scans<Record<string, unknown>>(database, listed, chunks),
    counts: new CountCache(database, chunks, listed),
  };
}

const TABLES = { transactions: TRANSACTIONS, wallets: WALLETS };
const time = new TimeBox(600_000);
time.begin();
const OPEN = { transactions: open(TRANSACTIONS, time), wallets: open(WALLETS, time) };

const shown = <T extends object>(rows: readonly T[]) => rows.map((row) => ({ ...row, values: undefined }));

const range: fc.Arbitrary<Range> = fc.record({
  offset: fc.oneof(fc.nat(12), fc.nat(200)),
  limit: fc.integer({ min: 1, max: 30 }),
  isWalk: fc.boolean(),
});
const question = fc.constantFrom("transactions" as const, "wallets" as const).chain((name) =>
  fc.record({
    name: fc.constant(name),
    requested: fc.constantFrom(...ASKED[name]),
    order: fc.constantFrom(...ORDERS[name]),
    range,
  }),
);

test("All pages are equal, in any order and with any filter, from an offset or a cursor on.", () => {
  fc.assert(
    fc.property(question, ({ name, requested, order, range }) => {
      const { scans, counts } = OPEN[name];
      const selection = { ...requested, order };
      const totalCount = scans.byIndex(selection, { offset: 0, limit: 1_000 }, { totalCount: 0 }).rows.length;
      expect(counts.count(head, accessPathsOf(requested))).toBe(totalCount);
      let next: Range | undefined = range;
      for (let pages = 0; next && pages < 4; pages++) {
        const expected = scans.byIndex(selection, next, { totalCount });
        const page = scans.inTime(selection, next, { totalCount });
        expect({ ...page, rows: shown(page.rows) }).toEqual({ ...expected, rows: shown(expected.rows) });
        next = page.next === undefined ? undefined : { ...next, after: page.next };
      }
    }),
    { numRuns: 300 },
  );
});

test("A range replaces a wider one at the same side, which then only tests rows.", () => {
  const above = (height: number): Condition => ({ sql: "height > ?", values: [height] });
  const [one] = inRange(
    accessPathsOf({ conditions: heightConditions({ low: 2, high: 9 }) }),
    above(5),
    "low",
  );
  expect(fromText(TRANSACTIONS, present(one, "one"))).toBe(
    "FROM transactions  WHERE (height <= ?) AND (height > ?) AND +(height >= ?)",
  );
  const [two] = inRange(
    inRange([present(one, "one")], above(7), "low"),
    { sql: "height < ?", values: [8] },
    "high",
  );
  expect(two?.lookups.flatMap(({ values }) => values)).toEqual([7, 8]);
  expect(two?.residuals.flatMap(({ values }) => values)).toEqual([9, 5, 2]);
});

test("A list that was too slow is not retried for a while, and others are.", () => {
  let checks = 0;
  class ThreeChecks extends TimeBox {
    override check(): number {
      if (++checks > 3) throw new SnapshotError("SNAPSHOT_TIMEOUT");
      return 2;
    }
  }
  const { scans } = open(TABLES.wallets, new ThreeChecks(0));
  const page = (sql: string) =>
    scans.inTime(
      {
        conditions: [{ sql, values: [] }],
        order: present(ORDERS.wallets[1], "an item of ORDERS.wallets"),
      },
      { offset: 0, limit: 5 },
      { totalCount: 9 },
    );
  expect(() => page("nonce = 1")).toThrow(SnapshotError);
  checks = 0;
  expect(() => page("nonce = 1")).toThrow(SnapshotError);
  expect(checks).toBe(0);
  expect(() => page("nonce = 2")).toThrow(SnapshotError);
  expect(checks).toBe(4);
});
