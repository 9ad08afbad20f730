/** Lists whose order is kept in memory are answered as those are that are sorted each time. */
import { afterAll, expect, test } from "vitest";
import { TRANSACTION_ORDERS } from "../../src/read/filters.ts";
import { createRankingBuilder } from "../../src/read/sqlite/rankings/builder.ts";
import { alice, bob } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";

const plain = openFixture({}, {}, longer);
const errors: unknown[] = [];
const builder = createRankingBuilder(plain.path, (error) => errors.push(error));
let building: Promise<unknown> = Promise.resolve();
let built = 0;
const ranked = openFixture(
  {
    rankings: {
      build(...asked) {
        const ranking = builder.build(...asked);
        building = ranking;
        built++;
        return ranking;
      },
      minRanked: 0,
      maxShare: 1,
    },
  },
  {},
  longer,
);
afterAll(async () => {
  await ranked.close();
  await builder.close();
  await plain.close();
});

const orders = TRANSACTION_ORDERS.filter((field) => field !== "timestamp").flatMap((field) => [
  `orderBy=${field}:asc`,
  `orderBy=${field}:desc&offset=3&limit=4`,
  `orderBy=${field}:desc&limit=5&transform=false`,
  `orderBy=${field}:asc&limit=5&cursor=start`,
]);
const lists = [
  ...orders.map((order) => `/api/transactions?${order}`),
  `/api/wallets/${alice.address}/transactions?orderBy=amount:desc`,
  "/api/transactions?vendorField=ent&limit=1",
  `/api/transactions?fee=0&senderId=${bob.address}`,
  `/api/transactions?senderId=${alice.address}&recipientId=${bob.address}`,
  "/api/transactions?typeGroup=2001&transform=false",
];

test.each(lists)("%s", async (url) => {
  const expected = (await plain.get(url)).json();
  expect((await ranked.get(url)).json()).toEqual(expected);
  // The next one is another URL, which is not answered out of memory.
  await building;
  expect((await ranked.get(`${url}&=`)).json().data).toEqual(expected.data);
  expect(errors).toEqual([]);
});

test("were made once for each column, and for the wallet", () => expect(built).toBe(7 + 1));
