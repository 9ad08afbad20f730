/** Blocks as bytes: ids of every scheme, and members that only the header contains. */
import type { EncodedBlock } from "@uniknode/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { BlockFilter } from "../../../src/read/filters.ts";
import type { StoredBlock } from "../../../src/read/rows.ts";
import { Chunks, TimeBox } from "../../../src/read/sqlite/lists/time-box.ts";
import { BlockQueries } from "../../../src/read/sqlite/tables/blocks.ts";
import { ChainQueries } from "../../../src/read/sqlite/tables/chain.ts";
import { BlockStore } from "../../../src/store/chain/blocks.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { chainOfScheme, ID_SCHEMES } from "../../../test-support/chain/id-schemes.ts";
import { headOf } from "../../../test-support/read/head.ts";
import { createInventedBlocks } from "../../../test-support/store/invented-blocks.ts";

function openEmpty(): Database {
  const database = openDatabase(":memory:");
  onTestFinished(() => database.close());
  migrate(database);
  return database;
}

function openWith(blocks: readonly EncodedBlock[]): Database {
  const database = openEmpty();
  const store = new BlockStore(database);
  for (const block of blocks) store.append(block);
  return database;
}

function queriesOf(database: Database) {
  const time = new TimeBox(60_000);
  time.begin();
  const chunks = new Chunks(database, time);
  return new BlockQueries({ database, head: headOf(database), time, chunks });
}

const toStored = ({ header }: EncodedBlock): StoredBlock => ({
  id: header.id,
  version: header.version,
  timestamp: header.timestamp,
  height: header.height,
  previousBlock: header.previousBlock,
  numberOfTransactions: header.numberOfTransactions,
  totalAmount: `${header.totalAmount}`,
  totalFee: `${header.totalFee}`,
  reward: `${header.reward}`,
  payloadLength: header.payloadLength,
  payloadHash: header.payloadHash,
  generatorPublicKey: header.generatorPublicKey,
  blockSignature: header.blockSignature,
  username: null,
});

describe.each(ID_SCHEMES)("a chain with %s", (scheme) => {
  const { blocks } = chainOfScheme(scheme);
  const head = present(blocks.at(-1), "the last block").header;

  test("A chain is read as it was written, by height and by id.", () => {
    const database = openWith(blocks);
    const store = new BlockStore(database);
    const queries = queriesOf(database);
    for (const block of blocks) {
      const { id, height } = block.header;
      expect(store.header(height)).toEqual(block.header);
      expect(store.headerById(id)).toEqual(block.header);
      expect(queries.byHeight(height)).toEqual(toStored(block));
      expect(queries.byId(id)).toEqual(toStored(block));
    }
    const stored = store.bytes(1, head.height);
    expect(stored.map(({ header }) => Buffer.from(header).toString("hex"))).toEqual(
      blocks.map(({ headerBytes }) => Buffer.from(headerBytes).toString("hex")),
    );
    expect(stored.map(({ id }) => id)).toEqual(blocks.map(({ header }) => header.id));
  });

  test("A chain is filtered by members of the header.", () => {
    const database = openWith(blocks);
    const queries = queriesOf(database);
    const find = (filter: BlockFilter) =>
      queries.list(filter, { field: "height", direction: "asc" }, { offset: 0, limit: 100 }).rows;
    const where = (isWanted: (block: StoredBlock) => boolean) => blocks.map(toStored).filter(isWanted);
    for (const one of blocks.map(toStored)) {
      const { id, previousBlock, generatorPublicKey, payloadHash, blockSignature } = one;
      expect(find({ id })).toEqual([one]);
      expect(find({ previousBlock })).toEqual([one]);
      expect(find({ blockSignature })).toEqual([one]);
      expect(find({ payloadHash })).toEqual(where((block) => block.payloadHash === payloadHash));
      expect(find({ generatorPublicKey })).toEqual(
        where((block) => block.generatorPublicKey === generatorPublicKey),
      );
    }
    const { payloadHash, blockSignature } = toStored(present(blocks[4], "a block"));
    for (const filter of [
      { id: head.id.toUpperCase().replace(/^\d+$/, "0") },
      { payloadHash: payloadHash.toUpperCase() },
      { payloadHash: payloadHash.slice(2) },
      { blockSignature: blockSignature.slice(2) },
      { blockSignature: `00${blockSignature}` },
      { blockSignature: blockSignature.slice(1) },
      { generatorPublicKey: "02" },
      { generatorPublicKey: "g" },
    ]) {
      expect(find(filter), JSON.stringify(filter)).toEqual([]);
    }
  });
});

const rowsOf = (database: Database) =>
  database
    .prepare<Record<string, unknown>>(
      `SELECT height, id, version, timestamp, number_of_transactions, transactions_up_to, total_amount, total_fee, reward,
         payload_length, public_key, header
       FROM blocks JOIN generators ON number = generator ORDER BY height`,
    )
    .all();

const fullId = (first: string, last: string) => first.padEnd(64 - last.length, "0") + last;

test("Ids with the same indexed prefix are different ids.", () => {
  const database = openEmpty();
  const insert = createInventedBlocks(database);
  const ids = [
    fullId("abcdefabcdef", "1"),
    fullId("abcdefabcdef", "2"),
    fullId("abcdefabcdee", "1"),
    "12345678901234567890",
    "123456",
    "1234567",
  ];
  for (const [index, id] of ids.entries()) insert({ height: index + 1, id });
  const queries = queriesOf(database);
  const children = (previousBlock: string) =>
    queries.list({ previousBlock }, { field: "height", direction: "asc" }, { offset: 0, limit: 9 }).rows;
  for (const [index, id] of ids.entries()) {
    expect(queries.byId(id)?.height, id).toBe(index + 1);
    expect(children(id).map(({ height }) => height)).toEqual(index + 1 < ids.length ? [index + 2] : []);
  }
  expect(queries.byId(fullId("abcdefabcdef", "3"))).toBeUndefined();
  expect(queries.byId("12345")).toBeUndefined();
});

test("Ids are found by how they begin, in the order of their texts, at most five.", () => {
  const database = openEmpty();
  const insert = createInventedBlocks(database);
  const ids = [
    ...["5", "3", "4", "1", "2", "6"].map((last) => fullId("abcdefabcdef", last)),
    fullId("abcdefabcde", "f"),
    fullId("12", "7"),
    fullId("1f", "7"),
    "1234",
    "19",
  ];
  for (const [index, id] of ids.entries()) insert({ height: index + 1, id });
  const chain = new ChainQueries(database);
  const found = (prefix: string) => chain.beginningWith(prefix).map(({ id }) => id);
  const expected = (prefix: string) =>
    ids
      .filter((id) => id.startsWith(prefix))
      .sort()
      .slice(0, 5);
  const whole = fullId("abcdefabcdef", "4");
  for (const prefix of ["", "1", "12", "123", "1f", "a", "abcdefabcde", "abcdefabcdef", "abcdefabcdef0"]) {
    expect(found(prefix), prefix).toEqual(expected(prefix));
  }
  expect(found(whole)).toEqual([whole]);
  expect(found(`${whole}0`)).toEqual([]);
  expect(found("AB")).toEqual([]);
  expect(found("x")).toEqual([]);
});

test("A rolled back transaction leaves no number of a generator behind, and no total.", () => {
  const { blocks } = chainOfScheme("full ids from height 2");
  const database = openEmpty();
  const store = new BlockStore(database);
  const rollBack = (count: number) =>
    expect(() =>
      database.transaction(() => {
        for (const block of blocks.slice(store.head()?.height ?? 0).slice(0, count)) store.append(block);
        throw new Error("rolled back");
      }),
    ).toThrow("rolled back");
  rollBack(3);
  for (const block of blocks) {
    store.append(block);
    rollBack(2);
  }
  expect(rowsOf(database)).toEqual(rowsOf(openWith(blocks)));
  expect(database.prepare("SELECT count(*) AS n FROM generators").get()).toEqual({ n: 3 });
});

test("A branch continues the totals of the blocks below it.", () => {
  const database = openEmpty();
  const { blocks } = chainOfScheme("full ids from height 2");
  const store = new BlockStore(database);
  const total = () =>
    database.prepare<{ total: number }>("SELECT max(transactions_up_to) AS total FROM blocks").get()?.total;
  for (const block of blocks) store.append(block);
  const before = total();
  store.removeFrom(5);
  for (const { header, headerBytes } of blocks.slice(4)) {
    store.append({ header: { ...header, numberOfTransactions: 2 }, headerBytes });
  }
  expect(total()).toBe((before ?? 0) + 2 * (blocks.length - 4));
});

test("Reverts keep the numbers of generators, which rounds may contain.", () => {
  const { blocks } = chainOfScheme("full ids from height 2");
  const database = openEmpty();
  const store = new BlockStore(database);
  for (const block of blocks) store.append(block);
  const numbers = database.prepare("SELECT * FROM generators ORDER BY number").all();
  for (let height = blocks.length; height > 1; height--) {
    store.removeFrom(height);
    expect(rowsOf(database)).toEqual(rowsOf(openWith(blocks.slice(0, height - 1))));
  }
  for (const block of blocks.slice(1)) store.append(block);
  expect(rowsOf(database)).toEqual(rowsOf(openWith(blocks)));
  expect(database.prepare("SELECT * FROM generators ORDER BY number").all()).toEqual(numbers);
});
