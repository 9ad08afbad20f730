/** Lists whose order is cached equal lists that are sorted each time. */
import { afterAll, expect, test } from "vitest";
import { TRANSACTIONS } from "../../src/read/lists.ts";
import { ValueIndexBuilder } from "../../src/read/sqlite/value-index-builder.ts";
import { alice, bob } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";

const plain = openFixture({}, {}, longer);
const errors: unknown[] = [];
const builder = new ValueIndexBuilder(plain.path, (error) => errors.push(error));
let building: Promise<unknown> = Promise.resolve();
let built = 0;
const indexed = openFixture(
  {
    valueIndexes: {
      build(...requested) {
        const valueIndex = builder.build(...requested);
        building = valueIndex;
        built++;
        return valueIndex;
      },
      minIndexedRows: 0,
      maxShare: 1,
    },
  },
  {},
  longer,
);
afterAll(async () => {
  await indexed.close();
  await builder.close();
  await plain.close();
});

const FORMS = ["asc", "desc&offset=3&limit=4", "desc&limit=5&transform=false", "asc&limit=5&cursor=start"];
/** Each order in one form: the test of the value index compares all pages of all orders. */
const orders = TRANSACTIONS.orders
  .filter((field) => field !== "timestamp")
  .map((field, index) => `orderBy=${field}:${FORMS[index % FORMS.length]}`);
const lists = [
  ...orders.map((order) => `/api/transactions?${order}`),
  `/api/wallets/${alice.address}/transactions?orderBy=amount:desc`,
  "/api/transactions?vendorField=ent&limit=1",
  `/api/transactions?fee=0&senderId=${bob.address}`,
  `/api/transactions?senderId=${alice.address}&recipientId=${bob.address}`,
  "/api/transactions?typeGroup=2001&transform=false",
];

test.each(lists)("GET %s returns the same with a value index as without.", async (url) => {
  const expected = (await plain.get(url)).json();
  expect((await indexed.get(url)).json()).toEqual(expected);
  // The next one is another URL, which no cache has.
  await building;
  expect((await indexed.get(`${url}&=`)).json().data).toEqual(expected.data);
  expect(errors).toEqual([]);
});

const FIRST = [
  "1.5",
  "1.0",
  "1e3",
  "-1e30",
  "1e400",
  "99999999999999999999",
  '"x"',
  '""',
  '"5"',
  "true",
  "[]",
  "{}",
  '"\\ud800"',
];
const LAST = ["1.5", "1e2", '"1"', "null", "[]", "1e400"];

test.each(["amount:asc", "vendorField:desc"].map((order) => `/api/transactions?orderBy=${order}&limit=1`))(
  "GET %s refuses cursors with other values than the list has, or finds nothing, with a value index or without.",
  async (url) => {
    const walk = `${url}&cursor=start`;
    await indexed.get(walk);
    await building;
    const { nextCursor } = (await indexed.get(`${walk}&=`)).json().meta;
    const members = JSON.parse(Buffer.from(nextCursor, "base64url").toString()) as unknown[];
    const texts = members.map((member) => JSON.stringify(member));
    expect(texts.length).toBeGreaterThan(3);
    for (let index = 0; index < texts.length; index++) {
      for (const value of index < texts.length - 2 ? FIRST : LAST) {
        const text = `[${texts.with(index, value).join()}]`;
        const cursor = Buffer.from(text).toString("base64url");
        for (const fixture of [plain, indexed]) {
          const { statusCode } = await fixture.get(`${url}&cursor=${cursor}`);
          expect([text, statusCode]).toEqual([text, expect.toBeOneOf([200, 422])]);
          if (/^-?\d+[.e]/.test(value)) expect([text, statusCode]).toEqual([text, 422]);
        }
      }
    }
  },
);

test("A value index is built once for each column, and for the wallet.", () => expect(built).toBe(7 + 1));
