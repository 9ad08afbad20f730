/** Behaviour of every implementation of the read model. Expectations are computed from the chain itself. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { bytesToHex, encodeHeader, encodeTransaction, transactionToJson } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { buildProof } from "../../../src/proofs/request.ts";
import type {
  BlockFilter,
  TransactionFilter,
  TransactionOrder,
  WalletFilter,
} from "../../../src/read/filters.ts";
import { BLOCKS, TRANSACTIONS, WALLETS } from "../../../src/read/lists.ts";
import type { Found, Range } from "../../../src/read/page.ts";
import { CursorError, type Snapshot } from "../../../src/read/port.ts";
import type { StoredTransaction, StoredWallet } from "../../../src/read/rows.ts";
import {
  alice,
  bob,
  carol,
  chain,
  cold,
  dave,
  forgeOn,
  PREMINE,
  secondKey,
  stranger,
  tokens,
  unik,
  wallets,
} from "../../../test-support/http/chain.ts";
import { ended, longer, more } from "../../../test-support/http/longer.ts";
import type { OpenSubject, Subject } from "./subject.ts";

const blocks = [...chain.blocks, ...longer.blocks];
const head = present(blocks.at(-1), "the last of blocks").header;
/** Blocks in the order of the chain. */
const transactions = blocks.flatMap(({ header, transactions }) =>
  transactions.map((transaction, sequence) => ({ ...transaction, header, sequence })),
);
const DIRECTIONS = ["asc", "desc"] as const;
const ALL: Range = { offset: 0, limit: 100 };
const NEWEST: TransactionOrder = { field: "timestamp", direction: "desc" };

type Comparable = bigint | number | string;
const compare = (a: Comparable, b: Comparable) => (a < b ? -1 : a > b ? 1 : 0);

/** Checks that pages by offset and by cursor are the parts of the complete list, and returns its rows. */
async function wholeList<Row>(list: (range: Range) => Promise<Found<Row>>): Promise<Row[]> {
  const { rows, totalCount } = await list(ALL);
  expect(rows).toHaveLength(totalCount);
  const limit = 2;
  for (let offset = 0; offset <= totalCount + 1; offset++) {
    const page = await list({ offset, limit });
    expect([page.rows, page.totalCount]).toEqual([rows.slice(offset, offset + limit), totalCount]);
  }
  // Pages of the usual size have statements of their own.
  expect((await list({ ...ALL, offset: 1 })).rows).toEqual(rows.slice(1));
  const walked: Row[] = [];
  for (let after: string | undefined, isEnd = false; !isEnd; ) {
    const page = await list({ offset: 0, limit, isWalk: true, ...(after !== undefined && { after }) });
    expect(page.totalCount).toBe(totalCount);
    walked.push(...page.rows);
    after = page.next;
    isEnd = after === undefined;
  }
  const plain = (row: Row) => ({ ...row, values: undefined });
  expect(walked.map(plain)).toEqual(rows.map(plain));
  return rows;
}

export function describeSnapshots(name: string, open: OpenSubject): void {
  describe(`a snapshot of ${name}`, () => {
    let subject: Subject;
    beforeAll(async () => {
      subject = await open();
    });
    afterAll(() => subject.close());

    const read = <T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> => subject.model.snapshot(work);

    test("A snapshot names the last block.", async () => {
      const { id, height, timestamp } = head;
      expect(await subject.model.head()).toEqual({ id, height, timestamp });
      expect(await read(async (snapshot) => snapshot.head)).toEqual({ id, height, timestamp });
    });

    test("A snapshot is refused while there is no block.", async () => {
      const empty = await open({ isEmpty: true });
      expect(await empty.model.head()).toBeUndefined();
      await expect(empty.model.snapshot(async () => 1)).rejects.toMatchObject({
        code: "SNAPSHOT_EMPTY",
        isRetryable: true,
      });
      await empty.close();
    });

    test("A snapshot ends a read at its time limit, and completes the others.", async () => {
      const hurried = await open({ hasTime: false });
      await hurried.model.snapshot(async ({ wallets, blocks }) => {
        // No index contains it: every wallet is tested.
        const tested = wallets.list(
          { secondPublicKey: secondKey },
          { field: "address", direction: "asc" },
          ALL,
        );
        await expect(tested).rejects.toMatchObject({ code: "SNAPSHOT_TIMEOUT", isRetryable: false });
        expect((await blocks.byHeight(1))?.height).toBe(1);
      });
      await hurried.close();
    });

    test("A snapshot throws the errors of its work.", async () => {
      await expect(read(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
      expect(await read(async () => 1)).toBe(1);
    });

    test("A snapshot shows one block to all of its reads, while blocks are added and reverted.", async () => {
      const own = await open();
      const next = forgeOn(
        present(blocks.at(-1), "the last of blocks"),
        { network: chain.network, timestamp: head.timestamp + 8, transactions: [] },
        bob,
      );
      for (let round = 0; round < 3; round++) {
        const seen = await own.model.snapshot(async ({ head, blocks, transactions }) => ({
          head: head.id,
          last: (await blocks.byHeight(head.height))?.id,
          above: await blocks.byHeight(head.height + 1),
          count: (await blocks.list({}, { field: "height", direction: "asc" }, ALL)).totalCount,
          newest: (await transactions.list({}, NEWEST, ALL)).rows[0]?.id,
        }));
        const isNext = round === 1;
        expect(seen).toEqual({
          head: isNext ? next.header.id : head.id,
          last: isNext ? next.header.id : head.id,
          above: undefined,
          count: blocks.length + Number(isNext),
          newest: present(transactions.at(-1), "the last of transactions").data.id,
        });
        if (round === 0) await own.append(next);
        else await own.revertTo(head.height);
        // Reads of one tick may share a transaction.
        await nextTurn();
      }
      await own.close();
    });
  });
}

export function describeReadModel(name: string, open: OpenSubject): void {
  describe(`the read model of ${name}`, () => {
    let subject: Subject;
    beforeAll(async () => {
      subject = await open();
    });
    afterAll(() => subject.close());

    const read = <T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> => subject.model.snapshot(work);

    describe("blocks", () => {
      test("Blocks are found by height and by id, with the members of their header.", async () => {
        for (const { header } of blocks) {
          const { id, height, version, timestamp, previousBlock, payloadLength, payloadHash } = header;
          const expected = {
            id,
            height,
            version,
            timestamp,
            previousBlock: height === 1 ? "0" : previousBlock,
            numberOfTransactions: header.numberOfTransactions,
            totalAmount: `${header.totalAmount}`,
            totalFee: `${header.totalFee}`,
            reward: `${header.reward}`,
            payloadLength,
            payloadHash,
            generatorPublicKey: header.generatorPublicKey,
          };
          expect(await read(({ blocks }) => blocks.byHeight(height))).toMatchObject(expected);
          expect(await read(({ blocks }) => blocks.byId(id))).toMatchObject(expected);
        }
        expect(await read(({ blocks }) => blocks.byHeight(head.height + 1))).toBeUndefined();
        expect(await read(({ blocks }) => blocks.byId("0"))).toBeUndefined();
      });

      test("Blocks yield proofs with the headers as they were signed, and the ids of their transactions.", async () => {
        const signed = blocks.map(({ header }) => bytesToHex(encodeHeader(header, chain.network)));
        for (const { header, transactions } of blocks.slice(2)) {
          const built = await read(async (snapshot) => {
            const block = present(await snapshot.blocks.byId(header.id), "the block");
            const transaction = await snapshot.transactions.bytesById(transactions[0]?.data.id ?? "");
            return buildProof(snapshot, chain.network, {
              block,
              ...(transaction && { transaction }),
              checkpoint: 2,
            });
          });
          const proof = present(built, "the proof");
          expect(proof.headers).toEqual(
            signed.slice(header.height - 1, header.height - 1 + proof.headers.length),
          );
          expect(proof.headers.length).toBeGreaterThan(0);
          expect(proof.ids).toEqual(transactions.map(({ data }) => data.id));
          expect(proof.transaction).toBe(transactions[0] && bytesToHex(transactions[0].bytes));
        }
      });

      test("Blocks name their generator if it is a delegate.", async () => {
        const usernames = await read(async ({ blocks }) => [
          (await blocks.byHeight(1))?.username,
          (await blocks.byHeight(2))?.username,
        ]);
        expect(usernames).toEqual([null, "genesis_1"]);
      });

      test("Blocks are found by time.", async () => {
        const heightAt = (timestamp: number) => read(({ blocks }) => blocks.heightAt(timestamp));
        for (const { header } of blocks.slice(1)) {
          expect(await heightAt(header.timestamp)).toBe(header.height);
          expect(await heightAt(header.timestamp - 1)).toBe(header.height);
        }
        expect(await heightAt(head.timestamp + 1)).toBe(head.height + 1);
      });

      test("Blocks and transactions are counted up to a time.", async () => {
        const times = blocks.map(({ header }) => header.timestamp);
        const expected = blocks.map(({ header: { height } }) => ({
          blocks: height - 1,
          transactions: transactions.filter(({ header }) => header.height < height).length,
        }));
        const before = (timestamps: number[]) => read((snapshot) => snapshot.blocks.before(timestamps));
        expect(await before(times)).toEqual(expected);
        expect((await before(times.slice(1).map((time) => time - 1))).slice(1)).toEqual(expected.slice(2));
        expect(await before([head.timestamp + 1, -1])).toEqual([
          { blocks: head.height, transactions: transactions.length },
          { blocks: 0, transactions: 0 },
        ]);
        expect(await before([])).toEqual([]);
      });

      test("Fees are summed between heights.", async () => {
        const sumOf = (low: number, high: number) =>
          blocks.slice(low - 1, high - 1).reduce((sum, { header }) => sum + header.totalFee, 0n);
        const heights = [1, 2, 2, 5, head.height + 1];
        expect(sumOf(1, head.height + 1) > 0n).toBe(true);
        expect(await read(({ blocks }) => blocks.feesBetween(heights))).toEqual(
          heights.slice(1).map((height, index) => sumOf(heights[index] ?? 0, height)),
        );
      });

      test.each(BLOCKS.orders.flatMap((field) => DIRECTIONS.map((direction) => [field, direction] as const)))(
        "Blocks are listed by %s, %s, ties by descending height.",
        async (field, direction) => {
          const rows = await wholeList((range) =>
            read(({ blocks }) => blocks.list({}, { field, direction }, range)),
          );
          const sign = direction === "asc" ? 1 : -1;
          const expected = blocks
            .map(({ header }) => header)
            .toSorted((a, b) => sign * compare(a[field], b[field]) || b.height - a.height);
          expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        },
      );

      test.each<[BlockFilter, number[]]>([
        [{ height: 3 }, [3]],
        [{ height: { from: 2, to: "4" } }, [4, 3, 2]],
        [{ height: { from: 5 } }, [6, 5]],
        [{ height: { from: 7 } }, []],
        [{ id: head.id }, [6]],
        [{ previousBlock: "0" }, [1]],
        [{ previousBlock: head.previousBlock }, [6]],
        [{ previousBlock: head.id }, []],
        [{ timestamp: { from: 16, to: 24 } }, [4, 3]],
        [{ timestamp: 17 }, []],
        [{ numberOfTransactions: 0 }, [2]],
        [{ generatorPublicKey: carol.publicKey }, [2]],
        [{ generatorPublicKey: carol.publicKey, forgedBy: bob.publicKey }, []],
        [{ totalAmount: { to: 0 } }, [6, 2]],
      ])("Transactions are filtered by %j.", async (filter, heights) => {
        const rows = await wholeList((range) =>
          read(({ blocks }) => blocks.list(filter, { field: "height", direction: "desc" }, range)),
        );
        expect(rows.map(({ height }) => height)).toEqual(heights);
      });
    });

    describe("transactions", () => {
      test("Transactions are found by id, with their members and as they were signed.", async () => {
        for (const { data, header } of transactions) {
          const [row, signed] = await read(async ({ transactions }) => [
            await transactions.byId(data.id),
            await transactions.signedById(data.id),
          ]);
          expect(row).toMatchObject({
            id: data.id,
            version: data.version,
            typeGroup: data.typeGroup,
            type: data.type,
            senderPublicKey: data.senderPublicKey,
            recipientId: data.recipientId ?? null,
            amount: `${data.amount}`,
            fee: `${data.fee}`,
            vendorField: data.vendorField ?? null,
            blockId: header.id,
            height: header.height,
            timestamp: header.timestamp,
          });
          expect(transactionToJson(present(signed, "signed"))).toEqual(transactionToJson(data));
          const bytes = await read(({ transactions }) => transactions.bytesById(data.id));
          expect(Buffer.from(present(bytes, "bytes")).toString("hex")).toBe(
            bytesToHex(encodeTransaction(data)),
          );
        }
        const missing = "0".repeat(64);
        expect(await read(({ transactions }) => transactions.byId(missing))).toBeUndefined();
        expect(await read(({ transactions }) => transactions.signedById(missing))).toBeUndefined();
        expect(await read(({ transactions }) => transactions.bytesById(missing))).toBeUndefined();
      });

      test("Transactions have their ids by block, in the order of the block.", async () => {
        for (const { header, transactions: contained } of blocks) {
          const ids = await read(({ transactions }) => transactions.idsInBlock(header.height));
          expect(ids).toEqual(contained.map(({ data }) => data.id));
        }
        expect(await read(({ transactions }) => transactions.idsInBlock(head.height + 1))).toEqual([]);
      });

      test("Transactions with a certification are found by their block.", async () => {
        const found = await read(({ transactions }) => transactions.certifiedInBlock(5));
        const certified = present(blocks[4], "an item of blocks").transactions.filter(
          ({ data }) => data.typeGroup === 2001 && (data.type === 3 || data.type === 4),
        );
        expect(certified.length).toBeGreaterThan(1);
        expect(found.map(({ id }) => id)).toEqual(certified.map(({ data }) => data.id));
      });

      const rate = (row: StoredTransaction, field: TransactionOrder["field"]): Comparable => {
        if (field === "amount" || field === "fee" || field === "nonce") return BigInt(row[field]);
        return row[field] ?? "\u{10ffff}";
      };
      // The direction in a block is the last term of every order.
      const orders = TRANSACTIONS.orders.flatMap((field, index) =>
        DIRECTIONS.map((direction, other) => {
          const sequence = other === index % 2 ? "asc" : "desc";
          return { field, direction, sequence } as const;
        }),
      );
      test.each(orders)("Transactions are listed by %j.", async (order) => {
        const rows = await wholeList((range) =>
          read(({ transactions }) => transactions.list({}, order, range)),
        );
        const places = new Map(
          transactions.map(({ data, header, sequence }) => [data.id, [header.height, sequence] as const]),
        );
        const sign = (direction: string) => (direction === "asc" ? 1 : -1);
        const expected = rows.toSorted((a, b) => {
          const [[heightA, sequenceA], [heightB, sequenceB]] = [
            present(places.get(a.id), "an entry of places"),
            present(places.get(b.id), "an entry of places"),
          ];
          return (
            sign(order.direction) * compare(rate(a, order.field), rate(b, order.field)) ||
            heightB - heightA ||
            sign(order.sequence) * (sequenceA - sequenceB)
          );
        });
        expect(rows).toHaveLength(transactions.length);
        expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      });

      type Sent = (typeof transactions)[number];
      const isSentBy = (account: typeof alice) => (sent: Sent) =>
        sent.data.senderPublicKey === account.publicKey;
      const isFor = (account: typeof alice) => (sent: Sent) => sent.data.recipientId === account.address;
      const pays = (account: typeof alice) => (sent: Sent) =>
        sent.data.asset?.payments?.some(({ recipientId }) => recipientId === account.address) === true;
      const receives = (account: typeof alice) => (sent: Sent) =>
        isFor(account)(sent) ||
        pays(account)(sent) ||
        (isSentBy(account)(sent) && sent.data.recipientId === undefined);
      const FILTERS: [TransactionFilter, (sent: Sent) => boolean][] = [
        [{ id: more.claim.data.id }, ({ data }) => data.id === more.claim.data.id],
        [{ type: 0 }, ({ data }) => data.type === 0 && data.typeGroup === 1],
        [{ typeGroup: 2001 }, ({ data }) => data.typeGroup === 2001],
        [{ typeGroup: 2001, type: 5 }, ({ data }) => data.typeGroup === 2001 && data.type === 5],
        [{ version: 1 }, ({ data }) => data.version === 1],
        [{ senderPublicKey: bob.publicKey }, isSentBy(bob)],
        [{ senderId: alice.address }, isSentBy(alice)],
        [{ senderId: stranger.address }, () => false],
        [{ recipientId: cold.address }, receives(cold)],
        [{ recipientId: alice.address }, receives(alice)],
        [{ participant: carol.address }, (sent) => [isSentBy, isFor, pays].some((is) => is(carol)(sent))],
        [
          { addresses: [carol.address, dave.address] },
          (sent) => [carol, dave].some((account) => [isSentBy, isFor, pays].some((is) => is(account)(sent))),
        ],
        // Beside a sender, neither payees nor transactions without a recipient.
        [
          { senderId: alice.address, recipientId: alice.address },
          (sent) => isSentBy(alice)(sent) && isFor(alice)(sent),
        ],
        [
          { senderPublicKey: alice.publicKey, recipientId: carol.address },
          (sent) => isSentBy(alice)(sent) && isFor(carol)(sent),
        ],
        [{ addresses: [alice.address], recipientId: alice.address }, isFor(alice)],
        [
          { senderId: alice.address, recipientId: cold.address },
          (sent) => isSentBy(alice)(sent) && isFor(cold)(sent),
        ],
        [{ blockId: present(blocks[2], "an item of blocks").header.id }, ({ header }) => header.height === 3],
        [{ height: { from: 3, to: 4 } }, ({ header }) => header.height === 3 || header.height === 4],
        [
          { height: 3, type: 0 },
          ({ header, data }) => header.height === 3 && data.type === 0 && data.typeGroup === 1,
        ],
        [{ timestamp: { from: 32 } }, ({ header }) => header.timestamp >= 32],
        [{ timestamp: 15 }, () => false],
        [{ amount: { from: 1, to: 1_000 } }, ({ data }) => data.amount >= 1n && data.amount <= 1_000n],
        [{ amount: "9531999990000001" }, ({ data }) => data.amount === 9_531_999_990_000_001n],
        [{ fee: 0 }, ({ data }) => data.fee === 0n],
        [{ vendorField: "ent" }, ({ data }) => data.vendorField?.includes("ent") === true],
        [{ vendorField: "100%" }, ({ data }) => data.vendorField?.includes("100%") === true],
        [{ vendorField: "RENT" }, () => false],
        [
          { lockIds: [ended.claimed, ended.refunded] },
          ({ data }) => data.id === more.claim.data.id || data.id === more.refund.data.id,
        ],
        [{ lockIds: [] }, () => false],
        [{ addresses: [] }, () => false],
        [{ fee: "9223372036854775808" }, () => false],
        [{ amount: { from: "-9223372036854775809", to: "9223372036854775808" } }, () => true],
        [{ typeGroup: "18446744073709551616", type: 0 }, () => false],
        [
          { asset: { payments: [{ recipientId: cold.address }] } },
          ({ data }) => data.id === chain.sent.payments.data.id,
        ],
        [{ asset: { votes: [`-${bob.publicKey}`] } }, () => false],
      ];
      test.each(FILTERS)("Rows are filtered by %j.", async (filter, isFound) => {
        const rows = await wholeList((range) =>
          read(({ transactions }) => transactions.list(filter, NEWEST, range)),
        );
        const expected = transactions.filter(isFound).map(({ data }) => data.id);
        expect(rows.map(({ id }) => id)).toEqual(expected.reverse());
        const byFee = { field: "fee", direction: "asc" } as const;
        const found = await read(({ transactions }) => transactions.list(filter, byFee, ALL));
        expect(found.rows.map(({ id }) => id).sort()).toEqual(expected.sort());
        const signed = await read(({ transactions }) => transactions.signedList(filter, NEWEST, ALL));
        expect(signed.rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
      });

      test("Transactions refuse a cursor of another list, and an invalid one.", async () => {
        const { next } = await read(({ transactions }) =>
          transactions.list({}, NEWEST, { offset: 0, limit: 1, isWalk: true }),
        );
        const byFee = { field: "fee", direction: "asc" } as const;
        for (const after of [present(next, "next"), "", "[]", "null", "{", '["fee",1]']) {
          const list = read(({ transactions }) =>
            transactions.list({}, byFee, { offset: 0, limit: 1, isWalk: true, after }),
          );
          await expect(list, after).rejects.toBeInstanceOf(CursorError);
        }
      });
    });

    describe("wallets", () => {
      const people = wallets.map(({ account }) => account);

      test("Wallets are found by address, public key and username.", async () => {
        const find = (id: string) => read(({ wallets }) => wallets.find(id));
        const addressOf = (id: string) => read(({ wallets }) => wallets.address(id));
        expect(await find(alice.address)).toMatchObject({
          address: alice.address,
          publicKey: alice.publicKey,
          balance: "9531999990000001",
          nonce: "4",
          attributes: { vote: bob.publicKey, secondPublicKey: secondKey },
        });
        expect((await find(alice.publicKey))?.address).toBe(alice.address);
        expect((await find("genesis_1"))?.address).toBe(carol.address);
        expect(await find(cold.address)).toEqual({
          address: cold.address,
          balance: "1027",
          nonce: "0",
          attributes: {},
          attributesText: "{}",
        });
        expect(await find(stranger.address)).toBeUndefined();
        for (const id of [alice.address, alice.publicKey]) expect(await addressOf(id)).toBe(alice.address);
        expect(await addressOf("genesis_1")).toBe(carol.address);
        for (const id of [stranger.address, "\0"]) expect(await addressOf(id)).toBeUndefined();
      });

      test("Wallets contain whether they have a second key.", async () => {
        const has = (address: string) => read(({ wallets }) => wallets.hasSecondKey(address));
        expect([await has(alice.address), await has(bob.address), await has("nothing")]).toEqual([
          true,
          false,
          false,
        ]);
      });

      /** Undefined: comes last in both directions. */
      const RATES: Readonly<
        Record<(typeof WALLETS.orders)[number], (wallet: StoredWallet) => Comparable | undefined>
      > = {
        address: ({ address }) => address,
        balance: ({ balance }) => BigInt(balance),
        nonce: ({ nonce }) => BigInt(nonce),
        publicKey: ({ publicKey }) => publicKey,
        secondPublicKey: ({ attributes }) => attributes.secondPublicKey,
        username: ({ attributes }) => attributes.delegate?.username,
        vote: ({ attributes }) => attributes.vote,
        lockedBalance: ({ attributes }) => BigInt(attributes.htlc?.lockedBalance ?? 0),
        voteBalance: ({ attributes }) => BigInt(attributes.delegate?.voteBalance ?? 0),
        resigned: ({ attributes }) => (attributes.delegate?.resigned ? 0 : undefined),
      };
      test.each(
        WALLETS.orders.flatMap((field) => DIRECTIONS.map((direction) => [field, direction] as const)),
      )("Wallets are listed by %s, %s.", async (field, direction) => {
        const rows = await wholeList((range) =>
          read(({ wallets }) => wallets.list({}, { field, direction }, range)),
        );
        const sign = direction === "asc" ? 1 : -1;
        const tieSign = field === "balance" || field === "nonce" ? sign : 1;
        const expected = rows.toSorted((a, b) => {
          const [x, y] = [RATES[field](a), RATES[field](b)];
          const byValue =
            x === undefined || y === undefined
              ? Number(x === undefined) - Number(y === undefined)
              : sign * compare(x, y);
          return byValue || tieSign * compare(a.address, b.address);
        });
        // The foundation has one as well.
        expect(rows).toHaveLength(people.length + 1);
        expect(rows.map(({ address }) => address)).toEqual(expected.map(({ address }) => address));
      });

      test.each<[WalletFilter, (typeof alice)[]]>([
        [{ address: cold.address }, [cold]],
        [{ addresses: [alice.address, bob.address, stranger.address] }, [alice, bob]],
        [{ publicKey: carol.publicKey }, [carol]],
        [{ secondPublicKey: secondKey }, [alice]],
        [{ vote: bob.publicKey }, [alice, bob]],
        [{ vote: bob.publicKey, votesFor: carol.publicKey }, []],
        [{ username: unik.dave }, [dave]],
        [{ balance: { from: 11, to: 400 } }, [bob, carol]],
        [{ balance: { to: -1 } }, [present(wallets[0], "an item of wallets").account]],
        [{ lockedBalance: { from: 1 } }, [alice, bob]],
        // An absent one is in no range.
        [{ lockedBalance: { from: 0 } }, [alice, bob]],
        [{ producedBlocks: 1 }, [carol]],
      ])("Uniks are filtered by %j.", async (filter, expected) => {
        const rows = await wholeList((range) =>
          read(({ wallets }) => wallets.list(filter, { field: "address", direction: "asc" }, range)),
        );
        expect(rows.map(({ address }) => address)).toEqual(expected.map(({ address }) => address).sort());
      });
    });

    describe("tokens", () => {
      test("Tokens are found by id, with their properties by key.", async () => {
        for (const { id, owner, properties } of tokens) {
          expect(await read(({ tokens }) => tokens.find(id))).toMatchObject({
            id,
            ownerId: owner.address,
            type: (properties as Record<string, string>).type ?? null,
            explicitValues: (properties as Record<string, string>).explicitValues ?? null,
          });
          const stored = Object.entries(properties).sort(([a], [b]) => compare(a, b));
          const rows = stored.map(([key, value]) => ({ key, value }));
          const totalCount = rows.length;
          expect(await read(({ tokens }) => tokens.properties(id, ALL))).toEqual({ rows, totalCount });
          for (const [index, { key }] of rows.entries()) {
            const [offset, limit] = [index + 1, 2];
            const page = { rows: rows.slice(offset, offset + limit), totalCount };
            expect(await read(({ tokens }) => tokens.properties(id, { offset, limit }))).toEqual(page);
            const after = { offset: 0, limit, afterKey: key };
            expect(await read(({ tokens }) => tokens.properties(id, after))).toEqual(page);
          }
          expect(await read(({ tokens }) => tokens.storedKeys(id, ["type", "none", "\0"]))).toEqual(
            new Set("type" in properties ? ["type"] : []),
          );
          for (const [key, value] of stored) {
            expect(await read(({ tokens }) => tokens.property(id, key))).toBe(value);
          }
        }
        expect(await read(({ tokens }) => tokens.find("0"))).toBeUndefined();
        expect(await read(({ tokens }) => tokens.property(unik.bare, "type"))).toBeUndefined();
      });

      test("Tokens are listed by id and by owner, and filtered by them.", async () => {
        for (const field of ["id", "ownerId"] as const) {
          for (const direction of DIRECTIONS) {
            const rows = await wholeList((range) =>
              read(({ tokens }) => tokens.list({}, { field, direction }, range)),
            );
            const sign = direction === "asc" ? 1 : -1;
            const expected = rows.toSorted(
              (a, b) => sign * (compare(a[field], b[field]) || compare(a.id, b.id)),
            );
            expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
          }
        }
        const byId = { field: "id", direction: "asc" } as const;
        const list = (filter: object) => read(({ tokens }) => tokens.list(filter, byId, ALL));
        expect((await list({ id: [unik.bob, unik.dave, "0"] })).rows.map(({ id }) => id)).toEqual([
          unik.bob,
          unik.dave,
        ]);
        expect((await list({ ownerId: alice.address })).totalCount).toBe(2);
      });

      test("Tokens are counted by their type.", async () => {
        expect(await read(({ tokens }) => tokens.countsByType())).toEqual(
          new Map([
            ["1", 2],
            ["3", 1],
          ]),
        );
      });
    });

    test("Delegates are the wallets that have a username, with the name that their unik disclosed.", async () => {
      const all = await read(({ delegates }) => delegates.all());
      const named = all.map(({ address, explicitName, delegate }) => [
        address,
        explicitName,
        delegate.resigned,
      ]);
      expect(named.sort()).toEqual(
        [
          [bob.address, "bob", undefined],
          [carol.address, undefined, undefined],
          [dave.address, undefined, true],
        ].sort(),
      );
    });

    test("Locks are found by id, by the wallet that created them, and all together.", async () => {
      const ids = [more.first, more.second, more.third].map(({ data }) => data.id);
      const all = await read(({ locks }) => locks.all());
      expect(all.map(({ id }) => id).sort()).toEqual(ids.toSorted());
      expect(await read(({ locks }) => locks.find(present(ids[0], "an item of ids")))).toMatchObject({
        id: ids[0],
        senderPublicKey: alice.publicKey,
        recipientId: cold.address,
        amount: "700",
      });
      expect(await read(({ locks }) => locks.find(ended.claimed))).toBeUndefined();
      expect((await read(({ locks }) => locks.of(bob.address))).map(({ id }) => id)).toEqual([ids[2]]);
      expect(await read(({ locks }) => locks.of(cold.address))).toEqual([]);
    });

    test("Entities are those of all wallets, resigned ones included.", async () => {
      const all = await read(({ entities }) => entities.all());
      const found = all.map(({ id, address, resigned }) => [id, address, resigned === true]);
      expect(found.sort()).toEqual(
        [
          [more.entity.data.id, carol.address, false],
          [more.delegateEntity.data.id, bob.address, true],
        ].sort(),
      );
      for (const entity of all)
        expect(await read(({ entities }) => entities.find(entity.id))).toEqual(entity);
      expect(await read(({ entities }) => entities.find(more.first.data.id))).toBeUndefined();
    });

    test("A round has its delegates as they were at its start; a round that has not started is undefined.", async () => {
      expect(await read(({ rounds }) => rounds.delegates(2))).toEqual([
        { publicKey: bob.publicKey, voteBalance: "5" },
        { publicKey: alice.publicKey, voteBalance: "12345678901234567" },
        { publicKey: carol.publicKey, voteBalance: "5" },
      ]);
      expect(await read(({ rounds }) => rounds.delegates(9))).toBeUndefined();
    });

    test("Fees are those of the last transactions of a type, or of all since a height.", async () => {
      const paid = (type: number, typeGroup: number) =>
        transactions
          .filter(({ data }) => data.type === type && data.typeGroup === typeGroup)
          .map(({ data }) => data.fee);
      const statistics = (fees: readonly bigint[]) => {
        const sum = fees.reduce((total, fee) => total + fee, 0n);
        const sorted = fees.toSorted(compare);
        return {
          avg: `${(2n * sum + BigInt(fees.length)) / (2n * BigInt(fees.length))}`,
          max: `${sorted.at(-1)}`,
          min: `${sorted[0]}`,
          sum: `${sum}`,
        };
      };
      const last = await read(({ fees }) => fees.ofLast(2, 1, 0));
      expect(last).toEqual(statistics(paid(0, 1).slice(-2)));
      expect(await read(({ fees }) => fees.ofLast(2, 1, 5))).toBeUndefined();
      const since = await read(({ fees }) => fees.since(1, 10_000_000));
      const transfers = since.find(({ typeGroup, type }) => typeGroup === 1 && type === 0);
      expect(transfers).toEqual({
        typeGroup: 1,
        type: 0,
        ...statistics(paid(0, 1).filter((fee) => fee >= 10_000_000n)),
      });
    });

    test("Ids and addresses are found by their prefix, a few of each kind.", async () => {
      const { address } = alice;
      expect(await read(({ chain }) => chain.beginningWith(address.slice(0, 10)))).toEqual([
        { kind: "wallet", id: address },
      ]);
      expect((await read(({ chain }) => chain.beginningWith(""))).length).toBeLessThanOrEqual(20);
      expect(await read(({ chain }) => chain.beginningWith("~"))).toEqual([]);
    });

    test("The supply is the sum of all wallets and the premine; the locked amount is separate.", async () => {
      const rows = await read(({ wallets }) => wallets.list({}, { field: "address", direction: "asc" }, ALL));
      const balances = rows.rows.reduce((sum, { balance }) => sum + BigInt(balance), 0n);
      expect(await read(({ chain }) => chain.supply())).toBe(balances + PREMINE);
      expect(await read(({ chain }) => chain.lockedSupply())).toBe(700n + 50n + 900n);
    });
  });
}
