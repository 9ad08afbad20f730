/** Lists from value indexes equal lists from a complete scan and sort. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { present } from "../../../../src/platform/present.ts";
import type { TransactionFilter, TransactionOrder } from "../../../../src/read/filters.ts";
import { TRANSACTIONS } from "../../../../src/read/lists.ts";
import type { Range } from "../../../../src/read/page.ts";
import type { Head } from "../../../../src/read/port.ts";
import { Chunks, TimeBox } from "../../../../src/read/sqlite/lists/time-box.ts";
import {
  readValueIndexAt,
  ValueIndexes,
  type ValueIndexOptions,
} from "../../../../src/read/sqlite/lists/value-index-cache.ts";
import { TransactionQueries } from "../../../../src/read/sqlite/tables/transactions.ts";
import { ValueIndexBuilder } from "../../../../src/read/sqlite/value-index-builder.ts";
import { type Database, openDatabase } from "../../../../src/store/engine/database.ts";
import { migrate } from "../../../../src/store/engine/migrations.ts";
import { headOf } from "../../../../test-support/read/head.ts";
import { createSnapshot } from "../../../../test-support/snapshot.ts";
import { createInventedBlocks } from "../../../../test-support/store/invented-blocks.ts";
import {
  createInventedTransactions,
  inventedId,
} from "../../../../test-support/store/invented-transactions.ts";

type Row = {
  readonly amount: bigint;
  readonly fee: number;
  readonly nonce: number;
  readonly type: number;
  readonly group: number;
  readonly version: number;
  readonly text: string | null;
};

/** Neighbours above 2^53, signs, and texts whose order by bytes and by code units differ. */
const row: fc.Arbitrary<Row> = fc.record({
  amount: fc.constantFrom(0n, 1n, 7n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -5n),
  fee: fc.nat(2),
  nonce: fc.nat(40),
  type: fc.nat(1),
  group: fc.constantFrom(1, 2000),
  version: fc.constantFrom(1, 2),
  text: fc.constantFrom(null, "a", "ab", "ba", "\u{ffff}", "\u{1f600}", "a\0b"),
});
const blocks = fc.array(fc.array(row, { maxLength: 6 }), { minLength: 1, maxLength: 6 });
const change = fc.oneof(
  fc.record({ kind: fc.constant("append" as const), blocks }),
  fc.record({ kind: fc.constant("revert" as const), depth: fc.integer({ min: 1, max: 12 }) }),
);

const FILTERS: TransactionFilter[] = [
  {},
  { type: 0 },
  { amount: "9007199254740993" },
  { amount: { from: 1, to: "9007199254740992" } },
  { amount: { from: 8, to: 7 } },
  { amount: {} },
  { fee: 1, nonce: { to: 20 } },
  { nonce: { from: 5 }, type: 0 },
  { version: 1 },
  { vendorField: "a" },
  { vendorField: "b", amount: 7 },
  { vendorField: "" },
  { vendorField: "\u{1f600}", senderPublicKey: "01" },
  { senderPublicKey: "00" },
  { typeGroup: 1 },
  { typeGroup: 2000, fee: 1 },
  { senderPublicKey: "00", recipientId: "r1" },
  { senderPublicKey: "01", recipientId: "r0", version: 2 },
];
const ORDERS: TransactionOrder[] = TRANSACTIONS.orders.flatMap((field) =>
  (["asc", "desc"] as const).map((direction) => ({ field, direction })),
);

function createTable(database: Database) {
  const insertBlock = createInventedBlocks(database);
  const insert = createInventedTransactions(database);
  let height = 0;
  let count = 0;
  return {
    append(rows: readonly Row[]): void {
      height++;
      database.transaction(() => {
        insertBlock({
          height,
          id: `block ${count++}`,
          timestamp: height,
          numberOfTransactions: rows.length,
        });
        rows.forEach(({ group, text, ...row }, index) => {
          insert({
            ...{ height, sequence: index, id: inventedId(count, index), typeGroup: group, vendorField: text },
            ...{ sender: `0${index % 2}`, recipient: `r${row.nonce % 2}`, ...row },
          });
        });
      });
    },
    revert(depth: number): void {
      height = Math.max(1, height - depth);
      database.prepare("DELETE FROM transactions WHERE height > ?").run(height);
      database.prepare("DELETE FROM blocks WHERE height > ?").run(height);
    },
  };
}

/** Limit that outlasts the tests. */
const time = new TimeBox(600_000);

const OPTIONS = { foundation: { address: undefined, until: undefined }, heightAt: () => 0 };

/** Two ways of reading a database; `found` counts the value indexes that were available on request. */
function open({ maxBytes = 10_000_000, path = ":memory:", build }: Partial<Setting> = {}) {
  const database = openDatabase(path);
  migrate(database);
  const snapshot = createSnapshot(database, time);
  const requested: string[] = [];
  const options: ValueIndexOptions = {
    maxBytes,
    maxShare: 1,
    build(definition, bytes) {
      requested.push(definition.column);
      return build
        ? build(definition, bytes)
        : Promise.resolve(readValueIndexAt(database, definition, bytes));
    },
  };
  const valueIndexes = new ValueIndexes(options, database);
  let found = 0;
  const counting: Pick<ValueIndexes, "find"> = {
    find(head, definition) {
      const valueIndex = valueIndexes.find(head, definition);
      if (valueIndex) found++;
      return valueIndex;
    },
  };
  const chunks = new Chunks(database, time);
  const deps = { ...OPTIONS, database, head: headOf(database), chunks, minIndexedRows: 0 };
  const read = <T>(work: (head: Head) => T): T => snapshot(work);
  return {
    database,
    table: createTable(database),
    read,
    requested,
    found: () => found,
    plain: new TransactionQueries(deps),
    indexed: new TransactionQueries({ ...deps, valueIndexes: counting }),
  };
}

type Setting = {
  readonly maxBytes: number;
  readonly path: string;
  readonly build: ValueIndexOptions["build"];
};
type Opened = ReturnType<typeof open>;

/** Compares pages at offsets, and a walk that begins at the first row. */
function check(opened: Opened, filter: TransactionFilter, order: TransactionOrder): void {
  opened.read(() => {
    const compare = (range: Range) => comparePage(opened, [filter, order, range]);
    const walk = { offset: 0, limit: 7, isWalk: true };
    let { next, totalCount } = compare(walk);
    for (let left = 2; left > 0 && next !== undefined; left--) ({ next } = compare({ ...walk, after: next }));
    for (const offset of new Set([1, Math.floor(totalCount / 2), totalCount - 3, totalCount + 2]))
      if (offset > 0) compare({ offset, limit: 7 });
  });
}

type Lists = Pick<Opened, "plain" | "indexed">;

/** Compares one page, and returns it. */
function comparePage({ plain, indexed }: Lists, requested: Parameters<Opened["plain"]["list"]>) {
  const page = indexed.list(...requested);
  expect(page).toEqual(plain.list(...requested));
  return page;
}

test("Lists from value indexes are the same at every page, while blocks are added and reverted.", async () => {
  await fc.assert(
    fc.asyncProperty(
      blocks,
      fc.array(change, { minLength: 1, maxLength: 4 }),
      fc.subarray(FILTERS, { minLength: 3, maxLength: 3 }),
      fc.subarray(ORDERS, { minLength: 3, maxLength: 3 }),
      async (first, changes, filters, orders) => {
        const opened = open();
        try {
          first.forEach(opened.table.append);
          for (const next of [undefined, ...changes]) {
            if (next?.kind === "append") next.blocks.forEach(opened.table.append);
            if (next?.kind === "revert") opened.table.revert(next.depth);
            for (const filter of filters) {
              for (const order of orders) {
                opened.read(() => comparePage(opened, [filter, order, { offset: 0, limit: 7 }]));
                // The requested value index is built meanwhile.
                await setImmediate();
                check(opened, filter, order);
              }
            }
          }
          expect(opened.found()).toBeGreaterThan(0);
        } finally {
          opened.database.close();
        }
      },
    ),
    { numRuns: 12 },
  );
});

const ROW: Row = { amount: 1n, fee: 1, nonce: 1, type: 0, group: 1, version: 2, text: null };
const BY_HEIGHT = ORDERS.filter(({ field }) => field === "timestamp");

/** Most rows have fee 1; those with fee 2 are contiguous. */
function appendMany(table: Opened["table"], heights: number, perBlock: number): void {
  for (let height = 0; height < heights; height++) {
    const fee = height > heights / 3 && height < heights / 2 ? 2 : 1;
    table.append(Array.from({ length: perBlock }, (_, nonce) => ({ ...ROW, fee, nonce: nonce % 50 })));
  }
}

test("Lists from value indexes start pages of many matches near their first row.", async () => {
  const opened = open({ maxBytes: 100_000_000 });
  // Above the size that is sorted, and above the number of parts in which the chain is counted.
  appendMany(opened.table, 1_500, 20);
  for (const filter of [{ fee: 1 }, { fee: 2 }, { fee: { from: 1, to: 3 } }, { typeGroup: 1 }]) {
    for (const order of [
      ...BY_HEIGHT,
      { ...present(BY_HEIGHT[0], "an item of BY_HEIGHT"), sequence: "asc" } as const,
    ]) {
      check(opened, filter, order);
      await setImmediate();
      check(opened, filter, order);
    }
  }
  expect(opened.found()).toBeGreaterThan(0);
  opened.database.close();
});

/** Repeats a request until its value index is available. */
async function untilFound(opened: Opened, order: TransactionOrder): Promise<void> {
  const before = opened.found();
  while (opened.found() === before) {
    check(opened, {}, order);
    await setImmediate();
  }
}
const [BY_AMOUNT, , BY_FEE, , BY_NONCE] = ORDERS as [
  TransactionOrder,
  unknown,
  TransactionOrder,
  unknown,
  TransactionOrder,
];

test("Value indexes are evicted in favour of later ones if they exceed the memory limit.", async () => {
  // 8 bytes for each row, and little more: two of them.
  const opened = open({ maxBytes: 20_000 });
  appendMany(opened.table, 10, 100);
  for (const order of [BY_AMOUNT, BY_FEE, BY_AMOUNT, BY_NONCE]) await untilFound(opened, order);
  const { length } = opened.requested;
  await untilFound(opened, BY_AMOUNT);
  expect(opened.requested).toHaveLength(length);
  await untilFound(opened, BY_FEE);
  expect(opened.requested.slice(length)).toEqual(["transactions.fee"]);
  opened.database.close();
});

test("Value indexes that alone exceed the memory limit are not built repeatedly.", async () => {
  const opened = open({ maxBytes: 5_000 });
  appendMany(opened.table, 10, 100);
  for (let time = 0; time < 5; time++) {
    check(opened, {}, BY_AMOUNT);
    await setImmediate();
  }
  expect([opened.found(), opened.requested]).toEqual([0, ["transactions.amount"]]);
  opened.database.close();
});

test("Value indexes delay no request while they are built, one at a time.", async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const opened = open({ build: () => promise });
  appendMany(opened.table, 5, 10);
  for (const order of [BY_AMOUNT, BY_FEE, BY_AMOUNT]) {
    check(opened, {}, order);
    await setImmediate();
  }
  expect([opened.found(), opened.requested]).toEqual([0, ["transactions.amount"]]);
  resolve(undefined);
  opened.database.close();
});

test("Value indexes are built by another thread while blocks are added and reverted.", async () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-value-indexes-"));
  const path = join(folder, "chain.sqlite");
  const errors: unknown[] = [];
  const builder = new ValueIndexBuilder(path, (error) => errors.push(error));
  const opened = open({ path, build: (...requested) => builder.build(...requested) });
  appendMany(opened.table, 20, 50);
  for (const order of [BY_AMOUNT, BY_FEE]) {
    const before = opened.found();
    while (opened.found() === before) {
      opened.table.revert(2);
      opened.table.append([{ ...ROW, amount: 2n }, ROW]);
      check(opened, {}, order);
      await setImmediate();
    }
  }
  expect(errors).toEqual([]);
  await builder.close();
  opened.database.close();
  rmSync(folder, { recursive: true });
});

test("Value indexes that cannot be built are reported, and are not retried for a while.", async () => {
  const errors: unknown[] = [];
  const builder = new ValueIndexBuilder("/nowhere/chain.sqlite", (error) => errors.push(error));
  const settled = Promise.withResolvers<void>();
  const opened = open({
    build: (...requested) => builder.build(...requested).finally(settled.resolve),
  });
  appendMany(opened.table, 5, 10);
  check(opened, {}, BY_AMOUNT);
  await settled.promise;
  await setImmediate();
  check(opened, {}, BY_AMOUNT);
  expect([opened.found(), opened.requested.length, errors.length]).toEqual([0, 1, 1]);
  opened.database.close();
});
