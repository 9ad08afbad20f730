import { afterAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import {
  alice,
  bob,
  carol,
  chain,
  cold,
  dave,
  foundation,
  heads,
  stranger,
  treasury,
  unik,
} from "../../test-support/http/chain.ts";
import { openFixture, rowsOf } from "../../test-support/http/fixture.ts";
import { longer, more } from "../../test-support/http/longer.ts";

const fixture = openFixture();
const further = openFixture({}, {}, longer);
afterAll(async () => {
  await fixture.close();
  await further.close();
});

const { hello, payments, vote, mint, large } = Object.fromEntries(
  Object.entries(chain.sent).map(([name, { data }]) => [name, data.id]),
) as Record<keyof typeof chain.sent, string>;
const [toAlice, toBob] = present(chain.blocks[0], "the genesis block").transactions.map(
  ({ data }) => data.id,
);
const idsOf = (response: { json(): unknown }) => rowsOf(response).map(({ id }) => id);

describe("GET /wallets/{id}/transactions", () => {
  test.each([
    [alice.address, [mint, vote, payments, hello, toAlice]],
    [alice.publicKey, [mint, vote, payments, hello, toAlice]],
    [unik.bob, [large, toBob]],
    // A payee of a multi payment takes part in it.
    ["genesis_1", [payments]],
    [cold.address, [large, payments, hello]],
    [treasury.address, [toBob, toAlice]],
    [dave.address, []],
    [`${alice.address}?limit=2&page=2`, [payments, hello]],
    [`${alice.address}?offset=4`, [toAlice]],
    [`${alice.address}?orderBy=amount:asc&limit=1`, [mint]],
    [`${alice.address}?orderBy=amount:desc&limit=2`, [toAlice, hello]],
    [`${alice.address}?orderBy=vendorField:asc&limit=1`, [hello]],
    [`${alice.address}?orderBy=timestamp:asc&limit=2`, [toAlice, mint]],
    [`${alice.address}?id=${vote}`, [vote]],
    [`${alice.address}?id=${large}`, []],
    [`${alice.address}?blockId=${heads.third.id}&limit=1`, [mint]],
    [`${cold.address}?blockId=${heads.head.id}`, [large]],
    [`${alice.address}?type=0`, [hello, toAlice]],
    [`${alice.address}?typeGroup=2001`, [vote]],
    [`${alice.address}?type=5`, []],
    [`${alice.address}?version=1`, [toAlice]],
    [`${cold.address}?timestamp=16`, [payments, hello]],
    [`${alice.address}?nonce=2`, [payments]],
    [`${alice.address}?amount=5`, [hello]],
    [`${cold.address}?fee=50000000`, [large]],
    [`${cold.address}?vendorField=o`, [large, hello]],
  ])("GET /wallets/{id}/transactions lists transactions of the wallet: %s.", async (path, found) => {
    const [id, query = ""] = path.split("?");
    expect(idsOf(await fixture.get(`/api/wallets/${id}/transactions?${query}`))).toEqual(found);
  });

  test("GET /wallets/{id}/transactions shows transactions in either form, amounts as text.", async () => {
    const response = await fixture.get(`/api/v2/wallets/${cold.address}/transactions?limit=1`);
    expect(rowsOf(response)[0]).toMatchObject({ amount: "1000", recipient: cold.address });
    expect(response.json().meta).toMatchObject({
      totalCountIsEstimate: false,
      totalCount: 3,
      next: `/api/v2/wallets/${cold.address}/transactions?limit=1&transform=true&page=2`,
    });
    const raw = await fixture.get(`/api/wallets/${cold.address}/transactions?transform=false&limit=1`);
    expect(rowsOf(raw)[0]).toMatchObject({ network: 30, recipientId: cold.address });
  });

  test("GET /wallets/{id}/transactions counts a payment once, however often a multi payment names the payee.", async () => {
    const response = await further.get(`/api/wallets/${carol.address}/transactions?type=6`);
    expect(idsOf(response)).toEqual([more.twice.data.id, payments]);
    expect(response.json().meta.totalCount).toBe(2);
  });

  test("GET /wallets/{id}/transactions finds rewards of the foundation.", async () => {
    const response = await further.get(`/api/wallets/${foundation.address}/transactions`);
    // Mints with voucher that make a unik alive, and updates that do, the latter only before the third
    // economy.
    expect(idsOf(response)).toEqual([more.mint.data.id, more.update.data.id]);
    const ordered = await further.get(
      `/api/wallets/${foundation.address}/transactions?orderBy=type:desc&limit=1`,
    );
    expect(idsOf(ordered)).toEqual([more.update.data.id]);
    for (const path of ["transactions/sent", "transactions/received"]) {
      expect(idsOf(await further.get(`/api/wallets/${foundation.address}/${path}`))).toEqual([]);
    }
  });
});

describe("GET /wallets/{id}/transactions/sent", () => {
  test.each([
    [alice.address, [mint, vote, payments, hello]],
    [unik.bob, [large]],
    [cold.address, []],
    [`${alice.address}?limit=1&page=4`, [hello]],
    [`${alice.address}?orderBy=nonce:asc&limit=1`, [hello]],
    [`${alice.address}?type=6`, [payments]],
    [`${alice.address}?recipientId=${cold.address}`, [hello]],
    [`${alice.address}?recipientId=${alice.address}`, []],
    [`${treasury.publicKey}?version=1`, [toBob, toAlice]],
  ])(
    "GET /wallets/{id}/transactions/sent lists the transactions that the wallet sent: %s.",
    async (path, found) => {
      const [id, query = ""] = path.split("?");
      expect(idsOf(await fixture.get(`/api/wallets/${id}/transactions/sent?${query}`))).toEqual(found);
    },
  );
});

describe("GET /wallets/{id}/transactions/received", () => {
  test.each([
    // Transactions without recipient stay with their sender.
    [alice.address, [mint, vote, payments, toAlice]],
    [unik.bob, [toBob]],
    [carol.address, [payments]],
    [cold.address, [large, payments, hello]],
    [`${cold.address}?limit=1&page=2`, [payments]],
    [`${cold.address}?senderPublicKey=${bob.publicKey}`, [large]],
    [`${cold.address}?senderId=${alice.address}`, [hello]],
    [`${cold.address}?senderId=${stranger.address}`, []],
    [`${cold.address}?amount=1000`, [large]],
    [`${cold.address}?type=0`, [large, hello]],
    [treasury.address, []],
  ])(
    "GET /wallets/{id}/transactions/received lists the transactions that the wallet received: %s.",
    async (path, found) => {
      const [id, query = ""] = path.split("?");
      expect(idsOf(await fixture.get(`/api/wallets/${id}/transactions/received?${query}`))).toEqual(found);
    },
  );
});

describe("lists of a wallet's transactions", () => {
  test.each(["transactions", "transactions/sent", "transactions/received"])(
    "Lists of a wallet's transactions return 404 for an unknown wallet and 422 for an invalid one: %s.",
    async (path) => {
      const unknown = await fixture.get(`/api/wallets/${stranger.address}/${path}`);
      expect(unknown.json()).toEqual({ statusCode: 404, error: "Not Found", message: "Wallet not found" });
      expect((await fixture.get(`/api/wallets/A%20B/${path}`)).statusCode).toBe(422);
    },
  );

  test.each([
    ["transactions", "foo=1"],
    ["transactions", "limit=101"],
    ["transactions", "orderBy=id:asc"],
    ["transactions", `senderId=${alice.address}`],
    ["transactions", `recipientId=${alice.address}`],
    ["transactions/sent", `senderId=${alice.address}`],
    ["transactions/sent", "amount=-1"],
    ["transactions/received", `recipientId=${alice.address}`],
    ["transactions/received", "senderPublicKey=zz"],
  ])(
    "Lists of a wallet's transactions refuse parameters of other lists: %s?%s.",
    async (path, parameters) => {
      expect((await fixture.get(`/api/wallets/${alice.address}/${path}?${parameters}`)).statusCode).toBe(422);
    },
  );
});
