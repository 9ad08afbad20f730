/** Transactions as bytes: members that only the bytes contain, and numbers of parties. */
import { type Block, blockFromTrustedBytes, createNetwork, genesisBlockFromJson } from "@uniknode/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { TransactionFilter } from "../../../src/read/filters.ts";
import type { StoredTransaction } from "../../../src/read/rows.ts";
import { TimeBox } from "../../../src/read/sqlite/lists/time-box.ts";
import { createQueries } from "../../../src/read/sqlite/read-model.ts";
import { ChainQueries } from "../../../src/read/sqlite/tables/chain.ts";
import { TransactionStore } from "../../../src/store/chain/transactions.ts";
import { toAssetText, toSignaturesText } from "../../../src/store/chain/visible-fields.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { blocksOf, readChain } from "../../../test-support/chain/fixtures.ts";
import { chain } from "../../../test-support/http/chain.ts";
import { headOf } from "../../../test-support/read/head.ts";
import { createInventedBlocks } from "../../../test-support/store/invented-blocks.ts";
import { createInventedTransactions, inventedId } from "../../../test-support/store/invented-transactions.ts";

function blocksOfChain(name: string): Block[] {
  const content = readChain(name);
  const network = createNetwork(content.network);
  const genesis = genesisBlockFromJson(content.genesis, network);
  return [genesis, ...blocksOf(content).map((bytes) => blockFromTrustedBytes(bytes, network))];
}

function openEmpty(): Database {
  const database = openDatabase(":memory:");
  onTestFinished(() => database.close());
  migrate(database);
  return database;
}

/** Writes the rows of blocks without their headers, which the reads of transactions do not decode. */
function insertHeaders(database: Database, blocks: readonly Block[]): void {
  const insert = createInventedBlocks(database);
  for (const { header, transactions } of blocks) {
    const { height, id, timestamp } = header;
    insert({ height, id, timestamp, numberOfTransactions: transactions.length });
  }
}

function openWith(blocks: readonly Block[]): Database {
  const database = openEmpty();
  const store = new TransactionStore(database);
  database.transaction(() => {
    insertHeaders(database, blocks);
    for (const block of blocks) store.append(block);
  });
  return database;
}

function readModelOf(database: Database) {
  const time = new TimeBox(60_000);
  time.begin();
  return createQueries({}, { database, network: chain.network, time, head: headOf(database) });
}

const queriesOf = (database: Database) => readModelOf(database).transactions;

/** Returns the transactions of blocks as they are read, oldest first. */
function toStored(blocks: readonly Block[]): StoredTransaction[] {
  const nonces = new Map<string, bigint>();
  return blocks.flatMap(({ header, transactions }) =>
    transactions.map(({ data }) => {
      const nonce = data.nonce ?? (nonces.get(data.senderPublicKey) ?? 0n) + 1n;
      nonces.set(data.senderPublicKey, nonce);
      return {
        id: data.id,
        version: data.version,
        typeGroup: data.typeGroup,
        type: data.type,
        senderPublicKey: data.senderPublicKey,
        recipientId: data.recipientId ?? null,
        amount: `${data.amount}`,
        fee: `${data.fee}`,
        vendorField: data.vendorField || null,
        signatures: toSignaturesText(data),
        asset: toAssetText(data.asset),
        blockId: header.id,
        height: header.height,
        timestamp: header.timestamp,
        nonce: `${nonce}`,
      };
    }),
  );
}

type Queries = ReturnType<typeof queriesOf>;

/** Returns all transactions that match a filter, oldest first. */
const listOf = (queries: Queries, filter: TransactionFilter = {}) =>
  queries.list(
    filter,
    { field: "timestamp", direction: "asc", sequence: "asc" },
    { offset: 0, limit: 10_000 },
  ).rows;

/** Returns the rows with the parties instead of their numbers. */
const rowsOf = (database: Database) =>
  database
    .prepare<Record<string, unknown>>(
      `SELECT transactions.*, public_key, address FROM transactions JOIN senders ON senders.number = sender
         LEFT JOIN recipients ON recipients.number = recipient ORDER BY height, sequence`,
    )
    .all()
    .map(({ sender: _, recipient: __, ...row }) => row);

describe.each(["chain-1", "chain-random-3"])("the transactions of %s", (name) => {
  const blocks = blocksOfChain(name);
  const stored = toStored(blocks);

  test("Transactions are read as they were written, also by id.", () => {
    const database = openWith(blocks);
    const queries = queriesOf(database);
    expect(listOf(queries)).toEqual(stored);
    expect(stored.map(({ id }) => queries.byId(id))).toEqual(stored);
    expect(stored.map(({ id }) => queries.signedById(id)?.id)).toEqual(stored.map(({ id }) => id));
    const store = new TransactionStore(database);
    const ids = stored.map(({ id }) => id);
    expect(store.storedIds([...ids, "0".repeat(64), "g", present(ids[0]).toUpperCase()])).toEqual(ids);
  });
});

test("All forms of signatures are there: one, a second one, and others.", () => {
  const counts = new Set(rowsOf(openWith(blocksOfChain("chain-1"))).map(({ signatures }) => signatures));
  expect([...counts].sort()).toEqual([0, 1, 2]);
});

test("Transactions are filtered by parties, also by those without transactions.", () => {
  const blocks = blocksOfChain("chain-1");
  const queries = queriesOf(openWith(blocks));
  const stored = toStored(blocks);
  const where = (isWanted: (row: StoredTransaction) => boolean) => stored.filter(isWanted);
  for (const { senderPublicKey, recipientId } of stored.slice(-5)) {
    expect(listOf(queries, { senderPublicKey })).toEqual(
      where((row) => row.senderPublicKey === senderPublicKey),
    );
    if (recipientId !== null) {
      expect(listOf(queries, { recipientId })).toEqual(where((row) => row.recipientId === recipientId));
    }
  }
  for (const filter of [
    { senderPublicKey: "02" },
    { senderPublicKey: "g" },
    { senderPublicKey: `02${"0".repeat(64)}` },
    { recipientId: "D" },
    { participant: "D" },
    { addresses: ["D"] },
    { id: "0".repeat(64) },
    { id: "1" },
  ]) {
    expect(listOf(queries, filter), JSON.stringify(filter)).toEqual([]);
  }
});

test("Ids with the same indexed prefix are different ids, and are found by how they begin.", () => {
  const database = openEmpty();
  const insert = createInventedTransactions(database);
  createInventedBlocks(database)({ height: 1, id: "1" });
  const idOf = (first: string, last: string) => first.padEnd(63, "0") + last;
  const ids = [
    ...["5", "3", "4", "1", "2", "6"].map((last) => idOf("abcdefabcdef", last)),
    idOf("abcdefabcdee", "1"),
  ];
  for (const [sequence, id] of ids.entries()) insert({ height: 1, sequence, id, amount: sequence });
  const transactions = queriesOf(database);
  expect(ids.map((id) => transactions.byId(id)?.amount)).toEqual(ids.map((_, sequence) => `${sequence}`));
  expect(transactions.byId(idOf("abcdefabcdef", "7"))).toBeUndefined();
  const queries = new ChainQueries(database);
  for (const prefix of ["a", "abcdefabcde", "abcdefabcdef", "abcdefabcdef0", present(ids[2])]) {
    expect(queries.beginningWith(prefix).map(({ id }) => id)).toEqual(
      ids
        .filter((id) => id.startsWith(prefix))
        .sort()
        .slice(0, 5),
    );
  }
});

test("Blocks with partial ids, and numbers of 64 bits, are read exactly.", () => {
  const database = openEmpty();
  const insertBlock = createInventedBlocks(database);
  const insert = createInventedTransactions(database);
  const transactions = queriesOf(database);
  const blockIds = ["1", "17184958558311101492", "ab".repeat(32)];
  const amounts = [2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n - 1n];
  for (const [index, id] of blockIds.entries()) {
    insertBlock({ height: index + 1, id });
    insert({ height: index + 1, sequence: 0, amount: present(amounts[index]) });
  }
  const stored = blockIds.map((_, index) => transactions.byId(inventedId(index + 1, 0)));
  expect(stored.map((row) => row?.blockId)).toEqual(blockIds);
  expect(stored.map((row) => row?.amount)).toEqual(amounts.map(String));
});

test("Amounts of blocks of 64 bits are read exactly.", () => {
  const database = openEmpty();
  createInventedBlocks(database)({ height: 1, id: "1" });
  const members = {
    totalAmount: `${2n ** 63n - 1n}`,
    totalFee: `${2n ** 53n + 1n}`,
    reward: `${2n ** 53n - 1n}`,
  };
  database
    .prepare("UPDATE blocks SET total_amount = ?, total_fee = ?, reward = ?")
    .run(...Object.values(members).map(BigInt));
  const { blocks } = readModelOf(database);
  expect(blocks.byHeight(1)).toMatchObject(members);
});

test("A rolled back transaction leaves no number of a party behind.", () => {
  const blocks = blocksOfChain("chain-1").slice(0, 40);
  const database = openEmpty();
  const store = new TransactionStore(database);
  const rollBack = (attempted: readonly Block[], error: string) =>
    expect(() =>
      database.transaction(() => {
        for (const block of attempted) store.append(block);
        throw new Error("rolled back");
      }),
    ).toThrow(error);
  for (const [index, block] of blocks.entries()) {
    rollBack(blocks.slice(index, index + 2), "rolled back");
    rollBack([withInvalidFee(block)], "constraint failed");
    store.append(block);
  }
  expect(rowsOf(database)).toEqual(rowsOf(openWith(blocks)));
});

/** Returns the block with one more transaction, which the database refuses. */
function withInvalidFee({ header, transactions }: Block): Block {
  const { data, ...sealed } = present(chain.blocks[0]?.transactions[0]);
  const invalid = { ...sealed, data: { ...data, id: "0".repeat(64), fee: null as unknown as bigint } };
  return { header, transactions: [...transactions, invalid] };
}

test("Reverts keep the numbers of parties.", () => {
  const blocks = blocksOfChain("chain-1").slice(0, 40);
  const database = openWith(blocks);
  const store = new TransactionStore(database);
  const numbers = () => database.prepare("SELECT * FROM senders ORDER BY number").all();
  const before = numbers();
  store.removeFrom(2);
  expect(rowsOf(database)).toEqual(rowsOf(openWith(blocks.slice(0, 1))));
  for (const block of blocks.slice(1)) store.append(block);
  expect(rowsOf(database)).toEqual(rowsOf(openWith(blocks)));
  expect(numbers()).toEqual(before);
});
