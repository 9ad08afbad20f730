import { afterAll, describe, expect, test } from "vitest";
import { BodyError } from "../../src/gateway/gateway.ts";
import { present } from "../../src/platform/present.ts";
import {
  alice,
  bob,
  carol,
  chain,
  cold,
  heads,
  PREMINE,
  stranger,
  treasury,
} from "../../test-support/http/chain.ts";
import { openFixture, rowsOf } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const { hello, payments, vote, mint, large } = Object.fromEntries(
  Object.entries(chain.sent).map(([name, { data }]) => [name, data]),
) as { [Name in keyof typeof chain.sent]: (typeof chain.sent)[Name]["data"] };
const premines = present(chain.blocks[0], "the genesis block").transactions.map(({ data }) => data);
const firstPremine = present(premines[0], "the first premine");
const secondPremine = present(premines[1], "the second premine");
const idsOf = (response: { json(): unknown }) => rowsOf(response).map(({ id }) => id);

describe("GET /transactions/{id}", () => {
  test("GET /transactions/{id} responds as interface.md 4.8 types it: integers, and always an asset.", async () => {
    const response = await fixture.get(`/api/v2/transactions/${hello.id}`);
    expect(response.json()).toEqual({
      data: {
        id: hello.id,
        blockId: heads.third.id,
        version: 2,
        type: 0,
        typeGroup: 1,
        amount: 5,
        fee: 10_000_000,
        sender: alice.address,
        senderPublicKey: alice.publicKey,
        recipient: cold.address,
        signature: hello.signature,
        vendorField: "Hello 100% é✓",
        asset: {},
        confirmations: 2,
        timestamp: { epoch: 16, unix: 1568893346, human: "2019-09-19T11:42:26.474Z" },
        nonce: "1",
      },
      chainmeta: {
        height: 4,
        timestamp: { epoch: 24, unix: 1568893354, human: "2019-09-19T11:42:34.474Z" },
      },
    });
  });

  test("GET /transactions/{id} writes all digits of amounts beyond 2^53, and the nonce of version 1.", async () => {
    const response = await fixture.get(`/api/transactions/${firstPremine.id}`);
    expect(response.body).toContain(`"amount":${firstPremine.amount},`);
    expect(firstPremine.amount % 2n).toBe(1n);
    expect(response.json().data).toMatchObject({ version: 1, nonce: "1", blockId: heads.genesis.id });
    expect((await fixture.get(`/api/transactions/${secondPremine.id}`)).json().data.nonce).toBe("2");
  });

  test("GET /transactions/{id} shows the sender as recipient if there is none.", async () => {
    const { data } = (await fixture.get(`/api/transactions/${mint.id}`)).json();
    expect(data).toMatchObject({ recipient: alice.address, typeGroup: 2000, asset: mint.asset });
  });

  test("GET /transactions/{id} returns the raw form on demand.", async () => {
    const { data } = (await fixture.get(`/api/transactions/${hello.id}?transform=false`)).json();
    expect(data).toEqual({
      version: 2,
      network: 30,
      type: 0,
      nonce: "1",
      senderPublicKey: alice.publicKey,
      fee: "10000000",
      amount: "5",
      vendorField: "Hello 100% é✓",
      expiration: 0,
      recipientId: cold.address,
      signature: hello.signature,
      id: hello.id,
    });
  });

  test("GET /transactions/{id} returns 404 for unconfirmed transactions and 422 for invalid ids.", async () => {
    for (const id of [
      present(chain.waiting[0], "a pending transaction").data.id,
      hello.id.toUpperCase(),
      "0".repeat(64),
    ]) {
      const response = await fixture.get(`/api/transactions/${id}`);
      expect(response.json()).toEqual({
        statusCode: 404,
        error: "Not Found",
        message: "Transaction not found",
      });
    }
    for (const path of ["zz", `${hello.id}?transform=x`, `${hello.id}?foo=1`]) {
      expect((await fixture.get(`/api/transactions/${path}`)).statusCode).toBe(422);
    }
  });
});

describe("GET /transactions", () => {
  const newestFirst = [large, mint, vote, payments, hello, secondPremine, firstPremine].map(({ id }) => id);

  test("GET /transactions lists transactions, newest first, amounts as text.", async () => {
    const response = await fixture.get("/api/transactions");
    expect(idsOf(response)).toEqual(newestFirst);
    expect(rowsOf(response)[0]).toMatchObject({ amount: "1000", fee: "50000000" });
    expect(rowsOf(response)[0]).not.toHaveProperty("asset");
  });

  test("GET /transactions names the unik that a vote is for.", async () => {
    const response = await fixture.get("/api/transactions?typeGroup=2001");
    expect(rowsOf(response)).toEqual([expect.objectContaining({ id: vote.id, unikname: "bob" })]);
    const raw = await fixture.get("/api/transactions?typeGroup=2001&transform=false");
    expect(rowsOf(raw)).toEqual([expect.objectContaining({ id: vote.id, network: 30, unikname: "bob" })]);
  });

  test.each([
    ["orderBy=timestamp:asc&limit=3", [secondPremine, firstPremine, mint]],
    ["orderBy=amount:desc&limit=2", [firstPremine, secondPremine]],
    ["orderBy=fee:desc&limit=1", [large]],
    ["orderBy=nonce:desc&limit=1", [mint]],
    ["orderBy=typeGroup:desc&limit=2", [vote, mint]],
    ["orderBy=version:asc&limit=2", [secondPremine, firstPremine]],
    ["orderBy=vendorField:asc&limit=2", [hello, large]],
    ["orderBy=vendorField:desc&offset=5", [large, hello]],
    [`id=${vote.id}`, [vote]],
    [`blockId=${heads.head.id}`, [large]],
    ["type=0&version=2", [large, hello]],
    ["type=0&typeGroup=2000", [mint]],
    ["version=1", [secondPremine, firstPremine]],
    [`senderPublicKey=${bob.publicKey}`, [large]],
    [`senderId=${bob.address}`, [large]],
    [`senderId=${cold.address}`, []],
    [`senderId=${stranger.address}`, []],
    [`recipientId=${carol.address}`, [payments]],
    [`recipientId=${cold.address}`, [large, payments, hello]],
    [`recipientId=${cold.address}&senderId=${bob.address}`, [large]],
    [`address=${carol.address}`, [payments]],
    [`address=${carol.address},${stranger.address},${cold.address}&limit=2`, [large, payments]],
    [`recipientId=${alice.address}`, [mint, vote, payments, firstPremine]],
    [`recipientId=${"1".repeat(34)}`, []],
    ["timestamp=24", [large]],
    ["nonce=2", [payments, secondPremine]],
    ["amount=1000", [large]],
    ["fee=0", [secondPremine, firstPremine]],
    ["vendorField=o", [large, hello]],
    ["vendorField=hello", []],
    ["vendorField=100%25", [hello]],
    ["vendorField=o_l", []],
    ["vendorField=%C3%A9%E2%9C%93", [hello]],
  ])("GET /transactions lists transactions with %s.", async (parameters, found) => {
    const response = await fixture.get(`/api/transactions?${parameters}`);
    expect(idsOf(response)).toEqual(found.map(({ id }) => id));
  });

  test.each([
    "id=abc",
    "type=vote",
    "senderPublicKey=zz",
    "senderId=short",
    "address=short",
    `address=${cold.address},`,
    `address=${Array.from({ length: 51 }, () => cold.address).join()}`,
    "orderBy=id:asc",
    "transform=no",
    "amount=1..5",
    "timestamp=now",
    `vendorField=${"a".repeat(256)}`,
    `vendorField=${"%C3%A9".repeat(128)}`,
    "version=0",
    "foo=1",
  ])("GET /transactions refuses %s.", async (parameters) => {
    expect((await fixture.get(`/api/transactions?${parameters}`)).statusCode).toBe(422);
  });

  test("GET /transactions finds the premine.", () => {
    expect(firstPremine.amount + secondPremine.amount).toBe(PREMINE);
    expect(firstPremine.senderPublicKey).toBe(treasury.publicKey);
  });
});

describe("POST /transactions/search", () => {
  const search = (body: object, query = "") => fixture.post(`/api/transactions/search${query}`, body);

  test.each([
    [{}, "?limit=2", [large, mint]],
    [{}, "?limit=2&page=4", [firstPremine]],
    [{ orderBy: "timestamp:asc" }, "?limit=2", [secondPremine, firstPremine]],
    [{ id: vote.id }, "", [vote]],
    [{ blockId: heads.head.id }, "", [large]],
    [{ type: 5, typeGroup: 2001 }, "", [vote]],
    // A type alone is one of the core's.
    [{ type: 5 }, "", []],
    [{ type: "6" }, "", [payments]],
    [{ typeGroup: 2000 }, "", [mint]],
    [{ version: 1 }, "", [secondPremine, firstPremine]],
    [{ senderPublicKey: bob.publicKey }, "", [large]],
    [{ senderId: bob.address }, "", [large]],
    [{ senderId: cold.address }, "", []],
    [{ recipientId: cold.address }, "", [large, payments, hello]],
    [{ recipientId: cold.address, senderId: alice.address }, "", [hello]],
    [{ recipientId: alice.address, senderId: alice.address }, "", []],
    [{ addresses: [cold.address, stranger.address] }, "", [large, payments, hello]],
    [{ addresses: [cold.address, carol.address] }, "?limit=2", [large, payments]],
    [{ addresses: [carol.address] }, "", [payments]],
    [{ addresses: [bob.address] }, "", [large, secondPremine]],
    [{ addresses: [bob.address, cold.address], type: 0, version: 2 }, "", [large, hello]],
    [{ addresses: [bob.address], recipientId: cold.address }, "", [large]],
    [{ vendorField: "Hello" }, "", [hello]],
    // A parameter of wallet kits.
    [{}, "?vendorField=Hello", [hello]],
    [{ vendorField: "Hello" }, "?vendorField=other", [hello]],
    [{ vendorField: "hello" }, "", []],
    [{ vendorField: "%" }, "", [hello]],
    [{ nonce: 2 }, "", [payments, secondPremine]],
    [{ timestamp: { from: 1, to: 16 } }, "?limit=1", [mint]],
    [{ timestamp: { from: 17 } }, "", [large]],
    [{ timestamp: { to: 0 } }, "", [secondPremine, firstPremine]],
    [{ amount: { from: 5, to: 1000 } }, "", [large, hello]],
    [{ amount: { from: "1000", to: "1000" } }, "", [large]],
    [{ fee: { to: 0 } }, "", [secondPremine, firstPremine]],
    [{ fee: { from: 1 }, amount: { from: 6 } }, "", [large]],
    [{ asset: { votes: [`+${bob.publicKey}`] } }, "", [vote]],
    [{ asset: { votes: [] } }, "", [vote]],
    [{ asset: { votes: [`-${bob.publicKey}`] } }, "", []],
    [{ asset: { votes: `+${bob.publicKey}` } }, "", []],
    [{ asset: { payments: [{ recipientId: carol.address }] } }, "", [payments]],
    [{ asset: { payments: [{ recipientId: cold.address, amount: "11" }] } }, "", []],
    [{ asset: { nft: { unik: { properties: { type: "1" } } } } }, "", [mint]],
    [{ asset: { nft: { unik: { properties: { type: 1 } } } } }, "", []],
    [{ asset: { nft: { unik: {} } }, typeGroup: 2001 }, "", []],
    [{ asset: { nothing: true } }, "", []],
    [{ asset: {} }, "", [mint, vote, payments]],
    [{ asset: {}, type: 0 }, "", []],
  ])("`POST /transactions/search` finds %j%s.", async (body, query, found) => {
    const response = await search(body, query);
    expect(idsOf(response)).toEqual(found.map(({ id }) => id));
  });

  test.each([15, 16, 61])(
    "POST /transactions/search finds nothing for an asset that is nested %i deep.",
    async (depth) => {
      const response = await fixture.app.inject({
        method: "POST",
        url: "/api/transactions/search",
        payload: `{"asset":{"votes":${"[".repeat(depth)}${"]".repeat(depth)}}}`,
      });
      expect(response.json()).toMatchObject({ data: [], meta: { totalCount: 0 } });
    },
  );

  test("POST /transactions/search refuses an asset beyond 1,024 characters, with which each row would be compared.", async () => {
    const ofLength = (length: number) => search({ asset: { votes: ["x".repeat(length - 14)] } });
    expect(idsOf(await ofLength(1_024))).toEqual([]);
    const { statusCode, headers } = await ofLength(1_025);
    expect([statusCode, headers["error-code"]]).toEqual([422, "INVALID_MEMBER"]);
  });

  test("POST /transactions/search returns either form, without names of uniks.", async () => {
    const response = await fixture.post("/api/v2/transactions/search?limit=1", { typeGroup: 2001 });
    expect(rowsOf(response)[0]).toMatchObject({ id: vote.id, fee: "10000000" });
    expect(rowsOf(response)[0]).not.toHaveProperty("unikname");
    expect(response.json().meta.self).toBe("/api/v2/transactions/search?limit=1&transform=true&page=1");
    expect(rowsOf(await search({ id: hello.id }, "?transform=false"))[0]).toMatchObject({ network: 30 });
  });

  test.each([
    [{ foo: 1 }, ""],
    [{ addresses: [] }, ""],
    [{ addresses: [bob.address, bob.address] }, ""],
    [{ addresses: bob.address }, ""],
    [{ addresses: Array.from({ length: 51 }, (_, number) => `${number}`.padStart(34, "D")) }, ""],
    [{ amount: 1 }, ""],
    [{ fee: { from: -1 } }, ""],
    [{ asset: "x" }, ""],
    [{ asset: [] }, ""],
    [{ asset: null }, ""],
    [{ id: "x" }, ""],
    [{ vendorField: "a".repeat(256) }, ""],
    [{ vendorField: "" }, ""],
    [{ orderBy: "id:asc" }, ""],
    [{}, "?orderBy=fee:asc"],
    [{}, "?limit=101"],
  ])("POST /transactions/search refuses %j%s.", async (body, query) => {
    expect((await search(body, query)).statusCode).toBe(422);
  });
});

describe("unconfirmed transactions", () => {
  const waiting = chain.waiting.map(({ data }) => data);
  const first = present(waiting[0], "the first pending transaction");
  const second = present(waiting[1], "the second pending transaction");

  test("Unconfirmed transactions are listed in forging order.", async () => {
    const response = await fixture.get("/api/v2/transactions/unconfirmed?limit=1");
    expect(rowsOf(response)).toEqual([
      {
        id: first.id,
        version: 2,
        type: 0,
        typeGroup: 1,
        amount: "7",
        fee: "30000000",
        sender: bob.address,
        senderPublicKey: bob.publicKey,
        recipient: cold.address,
        signature: first.signature,
        confirmations: 0,
        nonce: "2",
      },
    ]);
    expect(response.json().meta).toMatchObject({
      totalCount: 2,
      next: "/api/v2/transactions/unconfirmed?limit=1&transform=true&page=2",
    });
    expect(idsOf(await fixture.get("/api/transactions/unconfirmed?offset=1&transform=false"))).toEqual([
      second.id,
    ]);
  });

  test("Unconfirmed transactions are shown by id, transformed or raw.", async () => {
    const path = `/api/transactions/unconfirmed/${second.id}`;
    expect((await fixture.get(path)).json().data).toMatchObject({ vendorField: "later", confirmations: 0 });
    expect((await fixture.get(`${path}?transform=false`)).json().data).toMatchObject({
      network: 30,
      amount: "8",
    });
    expect((await fixture.get(`${path}?_=123&transform=1`)).json().data).toMatchObject({ confirmations: 0 });
  });

  test("Unconfirmed transactions are 404 once confirmed or unknown.", async () => {
    const response = await fixture.get(`/api/transactions/unconfirmed/${hello.id}`);
    expect(response.json().message).toBe("Transaction not found");
    expect((await fixture.get("/api/transactions/unconfirmed/zz")).statusCode).toBe(422);
    expect((await fixture.get("/api/transactions/unconfirmed?orderBy=fee:asc")).statusCode).toBe(422);
  });
});

describe("POST /transactions", () => {
  test("POST /transactions submits everything and returns the outcomes.", async () => {
    const transactions = [{ id: "x", amount: 1 }];
    const response = await fixture.post("/api/transactions", { transactions });
    expect(response.statusCode).toBe(200);
    expect(fixture.gateway.submitted.at(-1)).toEqual(transactions);
    expect(response.json()).toEqual({
      data: { accept: [], broadcast: [], excess: [], invalid: ["x"] },
      errors: { x: [{ type: "ERR_LOW_FEE", message: "too low" }] },
    });
  });

  test.each([[{}], [{ transactions: "x" }], [{ transactions: [], more: 1 }], [[]]])(
    "POST /transactions refuses the body %j.",
    async (body) => {
      expect((await fixture.post("/api/v2/transactions", body)).statusCode).toBe(422);
    },
  );

  test.each([
    [[], '"transactions" must have from 1 to 40 items'],
    [Array(41).fill({}), '"transactions" must have from 1 to 40 items'],
    [[{}, []], '"transactions.1" must be an object'],
    [["ff02"], '"transactions.0" must be an object'],
    [[null], '"transactions.0" must be an object'],
  ])(
    "POST /transactions refuses lists of another form before they reach the node: %.20j.",
    async (transactions, message) => {
      const count = fixture.gateway.submitted.length;
      const response = await fixture.post("/api/transactions", { transactions });
      expect(response.json()).toEqual({ statusCode: 422, error: "Unprocessable Entity", message });
      expect(fixture.gateway.submitted.length).toBe(count);
    },
  );

  test("POST /transactions accepts as many at once as the node allows.", async () => {
    const narrow = openFixture({ poolMaxPerRequest: 2 });
    const statusOf = async (count: number) =>
      (await narrow.post("/api/transactions", { transactions: Array(count).fill({ id: "x" }) })).statusCode;
    expect([await statusOf(2), await statusOf(3)]).toEqual([200, 422]);
    await narrow.close();
  });

  test("POST /transactions returns the refusal of the complete body.", async () => {
    fixture.gateway.submit = async () => {
      throw new BodyError("there must be at least one transaction");
    };
    const response = await fixture.post("/api/transactions", { transactions: [{}] });
    expect(response.json()).toMatchObject({
      statusCode: 422,
      message: "there must be at least one transaction",
    });
  });
});
