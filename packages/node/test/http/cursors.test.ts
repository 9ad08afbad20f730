/** Lists read from one cursor to the next. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { alice, unik } from "../../test-support/http/chain.ts";
import { documentOf } from "../../test-support/http/described.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";
import { filled } from "./samples.ts";

const fixture = openFixture({}, {}, longer);
beforeAll(() => fixture.app.ready());
afterAll(() => fixture.close());

type ApiResponse = {
  meta: { nextCursor?: string | null; totalCount: number; next: string | null };
  data: object[];
};

async function ask(url: string, body?: object): Promise<ApiResponse> {
  const response = body ? await fixture.post(url, body) : await fixture.get(url);
  expect(response.statusCode, `${url}: ${response.body}`).toBe(200);
  return response.json();
}

/** Reads all rows by pages of one size. */
async function walk(url: string, limit: number, body?: object): Promise<object[]> {
  const rows: object[] = [];
  const join = url.includes("?") ? "&" : "?";
  let cursor: string | null | undefined = "start";
  while (cursor) {
    const { meta, data } = await ask(`${url}${join}limit=${limit}&cursor=${cursor}`, body);
    rows.push(...data);
    expect(data.length).toBeLessThanOrEqual(limit);
    expect(rows.length, `${url} goes round`).toBeLessThanOrEqual(meta.totalCount);
    cursor = meta.nextCursor;
  }
  expect(cursor).toBeNull();
  return rows;
}

test("Every list has the same rows by cursors as on one page.", async () => {
  const walked: string[] = [];
  for (const [path, operations] of Object.entries((await documentOf(fixture.app)).paths)) {
    for (const [method, { parameters = [], tags }] of Object.entries(operations)) {
      const names = parameters.map(({ name }) => name);
      if (!names.includes("page") || tags.includes("Webhooks")) continue;
      expect(names, `${method} ${path}`).toContain("cursor");
      const url = `/api/v2${filled(path)}`;
      const body = method === "post" ? {} : undefined;
      const { data, meta } = await ask(url, body);
      expect(meta).not.toHaveProperty("nextCursor");
      for (const limit of [1, 3]) expect(await walk(url, limit, body), url).toEqual(data);
      walked.push(path);
    }
  }
  expect(walked.length).toBeGreaterThan(25);
});

// The suite of the read model has every order.
test.each([
  "/transactions?orderBy=vendorField:asc",
  `/wallets/${alice.address}/transactions?orderBy=vendorField:desc`,
  "/wallets?orderBy=username:desc",
  "/blocks?orderBy=totalFee:asc",
  "/delegates?orderBy=rank:asc",
  "/delegates?orderBy=rank:desc",
  "/uniks?orderBy=ownerId:desc",
  "/delegates?orderBy=voteBalance:desc",
  "/delegates?orderBy=approval:asc",
  "/locks?orderBy=amount:desc",
  "/locks?orderBy=vendorField:asc",
  "/locks?orderBy=isExpired:asc",
  "/peers?orderBy=version:desc",
])("GET %s has the same rows by cursors as on one page, rows without the value included.", async (path) => {
  const url = `/api${path}`;
  const { data } = await ask(url);
  expect(data.length).toBeGreaterThan(2);
  expect(await walk(url, 2)).toEqual(data);
});

test("The link to the next page has the next cursor, and the parameters of every link.", async () => {
  const first = await ask("/api/blocks?limit=2&cursor=start");
  expect(first.meta.next).toBe(`/api/blocks?limit=2&cursor=${first.meta.nextCursor}&transform=true&page=1`);
  const second = await ask(present(first.meta.next, "the next page"));
  expect(second.meta).toMatchObject({ totalCount: 6, first: "/api/blocks?limit=2&transform=true&page=1" });
});

test("Added blocks do not move the pages of a cursor.", async () => {
  const growing = openFixture({}, {}, longer);
  const page = async (cursor: string) =>
    (await growing.get(`/api/transactions?limit=4&cursor=${cursor}`)).json() as ApiResponse;
  const whole = (await growing.get("/api/transactions")).json() as ApiResponse;
  const first = await page("start");
  const writer = openDatabase(growing.path);
  writer.execute(`
    INSERT INTO blocks SELECT 7, 'new', version, timestamp + 8, 1, transactions_up_to + 1, total_amount, total_fee,
      reward, payload_length, generator, header FROM blocks WHERE height = 6;
    INSERT INTO transactions SELECT 7, sequence, randomblob(32), version, type_group, type, sender, recipient, nonce, amount,
      fee, vendor_field, is_alive, signatures, asset, bytes FROM transactions WHERE height = 6 AND sequence = 0`);
  writer.close();
  // Requests of one event-loop tick see the state at its start.
  await nextTurn();
  const second = await page(present(first.meta.nextCursor, "the next cursor"));
  const ids = (rows: object[]) => rows.map((row) => (row as { id: string }).id);
  expect(ids(second.data)).toEqual(ids(whole.data.slice(4, 8)));
  expect(second.meta.totalCount).toBe(whole.meta.totalCount + 1);
  await growing.close();
});

test("A cursor of a list by vendor field is accepted with the longest vendor field that is stored.", async () => {
  const odd = openFixture({}, {}, longer);
  const writer = openDatabase(odd.path);
  // 255 bytes that are not UTF-8 are stored as as many U+FFFD.
  writer.prepare("UPDATE transactions SET vendor_field = ?").run("\ufffd".repeat(255));
  writer.close();
  const ids: string[] = [];
  let cursor: string | null | undefined = "start";
  while (cursor) {
    const response = await odd.get(`/api/transactions?orderBy=vendorField:asc&limit=4&cursor=${cursor}`);
    expect(response.statusCode, response.body).toBe(200);
    const { meta, data } = response.json() as ApiResponse;
    ids.push(...data.map((row) => (row as { id: string }).id));
    cursor = meta.nextCursor;
  }
  const { meta } = (await odd.get("/api/transactions")).json() as ApiResponse;
  expect(new Set(ids).size).toBe(meta.totalCount);
  await odd.close();
});

describe("invalid cursors", () => {
  test.each([
    ["abc", "/api/transactions"],
    [Buffer.from("[]").toString("base64url"), "/api/wallets"],
    [Buffer.from('["x",{}]').toString("base64url"), "/api/blocks"],
    [Buffer.from('["x",-1]').toString("base64url"), "/api/locks"],
    ["abc", "/api/delegates"],
    [Buffer.from('["x",-1]').toString("base64url"), "/api/transactions/unconfirmed"],
  ])("The cursor %s is refused by GET %s.", async (cursor, url) => {
    const response = await fixture.get(`${url}?cursor=${cursor}`);
    expect([response.statusCode, response.json().message]).toEqual([
      422,
      '"cursor": the cursor does not belong to this list in this order; start again with cursor=start',
    ]);
  });

  test("A cursor of another order is refused.", async () => {
    const { meta } = await ask("/api/transactions?limit=1&cursor=start&orderBy=amount:asc");
    const url = `/api/transactions?limit=1&cursor=${meta.nextCursor}`;
    expect((await fixture.get(url)).statusCode).toBe(422);
    // It has as many values of the same kinds.
    expect((await fixture.get(`${url}&orderBy=fee:asc`)).statusCode).toBe(422);
    expect((await fixture.get(`${url}&orderBy=amount:asc`)).statusCode).toBe(200);
  });

  test("An invalid cursor of uniks is refused as every bad parameter of uniks.", async () => {
    const response = await fixture.get(`/api/uniks/${unik.alice}/properties?cursor=abc`);
    expect(response.json()).toMatchObject({
      statusCode: 400,
      validation: { source: "query", keys: ["cursor"] },
    });
  });
});
