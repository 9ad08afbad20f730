/** Pages far away are those that walking from page to page leads to. */
import { afterAll, expect, test } from "vitest";
import { openDatabase } from "../../src/store/database.ts";
import { openFixture } from "./fixture.ts";
import { longer } from "./longer.ts";

const fixture = openFixture({}, {}, longer);
afterAll(() => fixture.close());

/** More wallets than marks are apart, several with each balance. */
const WALLETS = 3_500;
const addressOf = (index: number) => `D${index}`.padEnd(34, "x");
const tokenId = (index: number) => `${index}`.padEnd(64, "a");
const writer = openDatabase(fixture.path);
writer.transaction(() => {
  const insert = writer.prepare("INSERT INTO wallets VALUES (?, NULL, ?, 0, NULL, NULL, NULL, '{}')");
  for (let index = 0; index < WALLETS; index++) insert.run(addressOf(index), Math.floor(index / 7) - 20);
  const mint = writer.prepare("INSERT INTO tokens VALUES (?, ?, 'first', 'last')");
  for (let index = 0; index < WALLETS; index++) mint.run(tokenId(index), addressOf(index % 50));
});
writer.close();

type Answer = { data: object[]; meta: { totalCount: number; next: string | null } };
const ask = async (url: string) => (await fixture.get(url)).json() as Answer;

async function walk(url: string): Promise<object[]> {
  const rows: object[] = [];
  for (let next: string | null = `${url}&cursor=start`; next !== null; ) {
    const { data, meta } = await ask(next);
    rows.push(...data);
    next = meta.next;
  }
  return rows;
}

test.each([
  "/api/wallets?orderBy=balance:desc",
  "/api/wallets?orderBy=balance:asc",
  "/api/wallets?orderBy=address:desc",
  "/api/wallets?orderBy=nonce:asc",
  "/api/uniks?orderBy=id:desc",
  "/api/uniks?orderBy=ownerId:asc",
])("%s", async (url) => {
  const whole = await walk(url);
  const { totalCount } = (await ask(url)).meta;
  expect(whole).toHaveLength(totalCount);
  // From the far end on, so that later pages find marks that others left.
  for (const offset of [totalCount - 3, 3_000, 2_999, 1_000, 1_001, 2_500, 999, 50]) {
    expect((await ask(`${url}&offset=${offset}`)).data).toEqual(whole.slice(offset, offset + 100));
  }
});
