/** The indexes of ids: found in every level, moved in small steps, and removed with their rows. */
import { randomBytes } from "node:crypto";
import { bytesToHex, hexToBytes } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  BLOCK_IDS,
  IdLevels,
  isNotIndexed,
  prepareById,
  rebuildIdLevels,
  TRANSACTION_IDS,
} from "../../../src/store/chain/id-levels.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { createInventedBlocks } from "../../../test-support/store/invented-blocks.ts";
import { createInventedTransactions } from "../../../test-support/store/invented-transactions.ts";

const STEP = 1_000;
const FIRST_LEVEL = 32 * STEP;

function openEmpty(): Database {
  const database = openDatabase(":memory:");
  migrate(database);
  return database;
}

/** Returns a function that inserts the row of a block that is not read. */
function createRows(database: Database, levels: IdLevels): (height: number, id: string) => void {
  const insert = database.prepare("INSERT INTO blocks VALUES (?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 1, x'')");
  return (height, id) => {
    insert.run(height, hexToBytes(id));
    levels.add(hexToBytes(id), height);
  };
}

const sizesOf = (database: Database) =>
  Object.fromEntries(
    database
      .prepare<[number, number]>("SELECT level, count(*) FROM block_ids GROUP BY level", { arrays: true })
      .all(),
  );

const countOfUnindexed = (database: Database) =>
  database.prepare<{ n: number }>(`SELECT count(*) AS n FROM blocks WHERE ${isNotIndexed(BLOCK_IDS)}`).get()
    ?.n;

describe("70,000 blocks", () => {
  const BLOCKS = 70_000;
  const ids = Array.from({ length: BLOCKS }, () => bytesToHex(randomBytes(32)));
  const database = openEmpty();
  const levels = new IdLevels(database, BLOCK_IDS);
  const insert = createRows(database, levels);
  const heightOf = prepareById<{ height: number }>(database, BLOCK_IDS, "height");
  let largest = 0;

  beforeAll(() => {
    for (let from = 0; from < BLOCKS; from += STEP) {
      database.transaction(() => {
        for (const [index, id] of ids.slice(from, from + STEP).entries()) insert(from + index + 1, id);
        levels.grow(from, from + STEP);
      });
      largest = Math.max(largest, sizesOf(database)[0] ?? 0);
    }
  });
  afterAll(() => database.close());

  test("The ids of 70,000 blocks are in three levels, and all are found.", () => {
    expect(largest).toBeLessThan(1.2 * FIRST_LEVEL);
    const sizes = sizesOf(database);
    expect(Object.keys(sizes)).toEqual(["0", "1", "2"]);
    expect(Object.values(sizes).reduce((sum, size) => sum + size)).toBe(BLOCKS);
    expect(countOfUnindexed(database)).toBe(0);
    for (let index = 0; index < BLOCKS; index += 97)
      expect(heightOf(ids[index] ?? "")?.height).toBe(index + 1);
  });

  test("The ids of 70,000 blocks leave no entries when they are removed, in whichever level these are.", () => {
    const removed = 500;
    database.transaction(() => {
      levels.removeFrom(BLOCKS - removed + 1);
      database.execute(`DELETE FROM blocks WHERE height > ${BLOCKS - removed}`);
    });
    const count = database.prepare<{ n: number }>("SELECT count(*) AS n FROM block_ids").get()?.n;
    expect(count).toBe(BLOCKS - removed);
    expect(countOfUnindexed(database)).toBe(0);
  });

  test("The ids of 70,000 blocks have the same entries after the index was built anew.", () => {
    const entries = () =>
      database.prepare("SELECT prefix, height FROM block_ids ORDER BY prefix, height").all();
    const before = entries();
    rebuildIdLevels(database, BLOCK_IDS);
    expect(entries()).toEqual(before);
    expect(Object.keys(sizesOf(database))).toEqual(["2"]);
  });
});

test("A step that is rolled back moves nothing.", () => {
  const database = openEmpty();
  onTestFinished(() => database.close());
  const insert = createInventedBlocks(database);
  const levels = new IdLevels(database, BLOCK_IDS);
  database.transaction(() => {
    for (let height = 1; height <= STEP; height++) insert({ height, id: bytesToHex(randomBytes(32)) });
  });
  expect(() =>
    database.transaction(() => {
      for (let step = 1; step <= 32; step++) levels.grow(0, STEP * step);
      expect(sizesOf(database)[0]).toBeUndefined();
      throw new Error("rolled back");
    }),
  ).toThrow("rolled back");
  expect(sizesOf(database)).toEqual({ 0: STEP });
});

test("Ids of the lowest and the highest prefix move too.", () => {
  const database = openEmpty();
  onTestFinished(() => database.close());
  const insert = createInventedBlocks(database);
  const ids = ["00", "ff"].map((byte) => byte.repeat(32));
  for (const [index, id] of ids.entries()) insert({ height: index + 1, id });
  new IdLevels(database, BLOCK_IDS).grow(0, 2_048 * STEP);
  expect(sizesOf(database)).toEqual({ 2: 2 });
  const heightOf = prepareById<{ height: number }>(database, BLOCK_IDS, "height");
  expect(ids.map((id) => heightOf(id)?.height)).toEqual([1, 2]);
});

test("Transactions are found by their position, also if they share a prefix.", () => {
  const database = openEmpty();
  onTestFinished(() => database.close());
  const insert = createInventedTransactions(database);
  const idOf = (last: string) => `abcdefabcdef${last.padStart(52, "0")}`;
  for (const sequence of [0, 1, 2]) insert({ height: 5, sequence, id: idOf(String(sequence)) });
  const levels = new IdLevels(database, TRANSACTION_IDS);
  levels.grow(0, 2_048 * STEP);
  insert({ height: 6, sequence: 0, id: idOf("3") });
  const positionOf = prepareById(database, TRANSACTION_IDS, "height, sequence");
  expect(positionOf(idOf("1"))).toEqual({ height: 5, sequence: 1 });
  expect(positionOf(idOf("3"))).toEqual({ height: 6, sequence: 0 });
  expect(positionOf(idOf("4"))).toBeUndefined();
  const count = () => database.prepare<{ n: number }>("SELECT count(*) AS n FROM transaction_ids").get()?.n;
  levels.removeFrom(6);
  expect(count()).toBe(3);
  levels.removeFrom(1);
  expect(count()).toBe(0);
});
