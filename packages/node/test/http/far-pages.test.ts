/** Far pages are equal to the pages that iteration reaches. */
import { afterAll, expect, test } from "vitest";
import { recountTypes } from "../../src/store/chain/transactions.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { countState } from "../../src/store/state/totals.ts";
import { alice, cold } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";
import { createInventedBlocks } from "../../test-support/store/invented-blocks.ts";
import { createInventedTransactions } from "../../test-support/store/invented-transactions.ts";

const fixture = openFixture({}, {}, longer);
afterAll(() => fixture.close());

/** More wallets than the distance of two entries of the offset cache, several with each balance. */
const WALLETS = 3_500;
const addressOf = (index: number) => `D${index}`.padEnd(34, "x");
const tokenId = (index: number) => `${index}`.padEnd(64, "a");
/**
 * Blocks with more transactions than a page, except for some that have none; every third is of another type.
 */
const [FIRST_HEIGHT, LAST_HEIGHT] = [7, 14];
const timeOf = (height: number) => 8 * height;
const lengthOf = (height: number) => (height % 4 === 0 ? 0 : 330 + height);
const writer = openDatabase(fixture.path);
writer.transaction(() => {
  const insert = writer.prepare("INSERT INTO wallets VALUES (?, NULL, ?, 0, NULL, NULL, NULL, '{}')");
  for (let index = 0; index < WALLETS; index++) insert.run(addressOf(index), Math.floor(index / 7) - 20);
  const mint = writer.prepare("INSERT INTO tokens VALUES (?, ?, 'first', 'last')");
  for (let index = 0; index < WALLETS; index++) mint.run(tokenId(index), addressOf(index % 50));
  const forge = createInventedBlocks(writer);
  const append = createInventedTransactions(writer);
  const parties = { sender: alice.publicKey, recipient: cold.address };
  for (let height = FIRST_HEIGHT; height <= LAST_HEIGHT; height++) {
    forge({ height, id: `${height}`, timestamp: timeOf(height), numberOfTransactions: lengthOf(height) });
    for (let sequence = 0; sequence < lengthOf(height); sequence++) {
      append({ height, sequence, type: sequence % 3 === 0 ? 5 : 0, ...parties, amount: sequence % 7 });
    }
  }
});
recountTypes(writer);
countState(writer);
writer.close();

type ApiResponse = { data: object[]; meta: { totalCount: number; next: string | null } };
const ask = async (url: string, body?: object) =>
  (await (body ? fixture.post(url, body) : fixture.get(url))).json() as ApiResponse;

async function walk(url: string, body?: object): Promise<object[]> {
  const rows: object[] = [];
  for (let next: string | null = `${url}&cursor=start`; next !== null; ) {
    const { data, meta } = await ask(next, body);
    rows.push(...data);
    next = meta.next;
  }
  return rows;
}

const within = { timestamp: { from: timeOf(FIRST_HEIGHT + 2), to: timeOf(LAST_HEIGHT - 1) + 3 } };

test.each([
  ["/api/transactions?orderBy=timestamp:desc"],
  ["/api/transactions?orderBy=timestamp:asc"],
  ["/api/transactions?type=0"],
  [`/api/wallets/${cold.address}/transactions/received?orderBy=timestamp:asc`],
  [`/api/blocks/${FIRST_HEIGHT}/transactions?orderBy=timestamp:asc`],
  [`/api/blocks/${LAST_HEIGHT}/transactions?`],
  [`/api/blocks/${LAST_HEIGHT}/transactions?orderBy=amount:asc`],
  [`/api/blocks/${LAST_HEIGHT}/transactions?type=0`],
  [`/api/transactions?timestamp=${timeOf(LAST_HEIGHT)}`],
  ["/api/transactions/search?", within],
  ["/api/transactions/search?", { ...within, orderBy: "timestamp:asc" }],
  ["/api/transactions/search?", { ...within, orderBy: "amount:desc" }],
  ["/api/transactions/search?", { ...within, type: 0 }],
] as [string, object?][])(
  "The pages of %s %j are the parts of the complete list, however far.",
  async (url, body) => {
    const whole = await walk(url, body);
    const { totalCount } = (await ask(url, body)).meta;
    expect(whole).toHaveLength(totalCount);
    expect(totalCount).toBeGreaterThan(200);
    for (let offset = totalCount + 1; offset >= 0; offset -= 211) {
      expect((await ask(`${url}&offset=${offset}`, body)).data).toEqual(whole.slice(offset, offset + 100));
    }
  },
);

test("An empty block or an empty time has no transactions.", async () => {
  expect(lengthOf(12)).toBe(0);
  expect((await ask("/api/blocks/12/transactions?")).meta.totalCount).toBe(0);
  expect((await ask(`/api/transactions?timestamp=${timeOf(12) + 1}`)).meta.totalCount).toBe(0);
  const never = { timestamp: { from: timeOf(LAST_HEIGHT), to: timeOf(FIRST_HEIGHT) } };
  expect(await ask("/api/transactions/search?", never)).toMatchObject({ data: [], meta: { totalCount: 0 } });
});

test.each([
  "/api/wallets?orderBy=balance:desc",
  "/api/wallets?orderBy=balance:asc",
  "/api/wallets?orderBy=address:desc",
  "/api/wallets?orderBy=nonce:asc",
  "/api/uniks?orderBy=id:desc",
  "/api/uniks?orderBy=ownerId:asc",
])("The pages of %s are the parts of the complete list, however far.", async (url) => {
  const whole = await walk(url);
  const { totalCount } = (await ask(url)).meta;
  expect(whole).toHaveLength(totalCount);
  // From the far end on, so that later pages find entries that earlier ones left.
  for (const offset of [totalCount - 3, 3_000, 2_999, 1_000, 1_001, 2_500, 999, 50]) {
    expect((await ask(`${url}&offset=${offset}`)).data).toEqual(whole.slice(offset, offset + 100));
  }
});
