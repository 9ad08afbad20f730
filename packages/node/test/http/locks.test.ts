import { afterAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { alice, bob, carol, cold, stranger } from "../../test-support/http/chain.ts";
import { openFixture, rowsOf } from "../../test-support/http/fixture.ts";
import { ended, longer, more, secretHash } from "../../test-support/http/longer.ts";

const fixture = openFixture({}, {}, longer);
afterAll(() => fixture.close());

const [first, second, third] = [more.first, more.second, more.third].map(({ data }) => data.id);
const names = new Map([
  [first, "first"],
  [second, "second"],
  [third, "third"],
]);
/** The ids are hashes, so their order is computed. */
const byId = [first, second, third].sort().map((id) => names.get(id));
const locksOf = (response: { json(): unknown }) =>
  rowsOf(response).map(({ lockId }) => names.get(lockId as string));

describe("GET /locks", () => {
  test("GET /locks lists open locks by id, under both prefixes.", async () => {
    for (const prefix of ["/api", "/api/v2"]) {
      const response = await fixture.get(`${prefix}/locks`);
      expect(locksOf(response)).toEqual(byId);
      expect(response.json().meta).toMatchObject({ totalCount: 3, self: `${prefix}/locks?page=1&limit=100` });
    }
  });

  test.each([
    ["orderBy=amount:asc", ["second", "first", "third"]],
    ["orderBy=amount:desc&limit=1&page=2", ["first"]],
    ["orderBy=expirationValue:desc", ["third", "first", "second"]],
    ["orderBy=expirationType:desc&limit=1", ["first"]],
    ["orderBy=isExpired:desc&limit=1", ["second"]],
    ["orderBy=lockId:desc", byId.toReversed()],
    ["orderBy=recipientId:asc&offset=3", []],
    ["orderBy=secretHash:desc", ["third", "second", "first"]],
    ["orderBy=timestamp:desc", byId],
    // By code unit; rows without a value come last.
    ["orderBy=vendorField:asc", ["third", "first", "second"]],
    ["orderBy=vendorField:desc", ["first", "third", "second"]],
    [`recipientId=${cold.address}&orderBy=amount:asc`, ["first", "third"]],
    [`senderPublicKey=${bob.publicKey}`, ["third"]],
    [`lockId=${second}`, ["second"]],
    [`secretHash=${secretHash.first}`, ["first"]],
    ["amount=900", ["third"]],
    ["amount=901", []],
    ["expirationValue=40", ["second"]],
    ["expirationType=2", ["first"]],
    ["isExpired=true", ["second"]],
    ["isExpired=FALSE&orderBy=amount:asc", ["first", "third"]],
    ["isExpired=true&expirationType=2", []],
  ])("GET /locks lists locks with %s.", async (parameters, found) => {
    expect(locksOf(await fixture.get(`/api/locks?${parameters}`))).toEqual(found);
  });

  test.each([
    "vendorField=x",
    "orderBy=foo:asc",
    "lockId=x",
    "amount=-1",
    "isExpired=1",
    "expirationType=3",
    "limit=0",
  ])("GET /locks refuses %s.", async (parameters) => {
    expect((await fixture.get(`/api/locks?${parameters}`)).statusCode).toBe(422);
  });
});

describe("GET /locks/{id}", () => {
  test("GET /locks/{id} shows an open lock.", async () => {
    expect((await fixture.get(`/api/v2/locks/${first}`)).json()).toEqual({
      data: {
        lockId: first,
        amount: "700",
        secretHash: secretHash.first,
        senderPublicKey: alice.publicKey,
        recipientId: cold.address,
        timestamp: { epoch: 32, unix: 1568893362, human: "2019-09-19T11:42:42.474Z" },
        expirationType: 2,
        expirationValue: 100,
        isExpired: false,
        vendorField: "rent",
      },
    });
    // The time of the head has passed.
    const expired = (await fixture.get(`/api/locks/${second}`)).json().data;
    expect(expired).toMatchObject({ isExpired: true, expirationType: 1, expirationValue: 40 });
    expect(expired).not.toHaveProperty("vendorField");
  });

  test("GET /locks/{id} returns 404 for locks that are not open and 422 for invalid ids.", async () => {
    for (const id of [ended.claimed, "0".repeat(64), present(first, "a lock").toUpperCase()]) {
      const response = await fixture.get(`/api/locks/${id}`);
      expect(response.json()).toEqual({ statusCode: 404, error: "Not Found", message: "Lock not found" });
    }
    expect((await fixture.get("/api/locks/zz")).statusCode).toBe(422);
  });
});

describe("POST /locks/search", () => {
  test.each([
    [{}, "", byId],
    [{ recipientId: cold.address }, "?orderBy=amount:asc", ["first", "third"]],
    [{ senderPublicKey: alice.publicKey }, "?orderBy=amount:asc", ["second", "first"]],
    [{ lockId: third }, "", ["third"]],
    [{ secretHash: secretHash.second }, "", ["second"]],
    // The complete value, case-sensitive.
    [{ vendorField: "rent" }, "", ["first"]],
    [{ vendorField: "ren" }, "", []],
    [{ vendorField: "\u00e9".repeat(255) }, "", []],
    [{ expirationType: 2 }, "", ["first"]],
    [{ expirationType: "2" }, "", ["first"]],
    [{ isExpired: true }, "", ["second"]],
    [{ isExpired: "true" }, "", ["second"]],
    [{ amount: { from: 50, to: 700 } }, "?orderBy=amount:asc", ["second", "first"]],
    [{ amount: { from: 51, to: "899" } }, "", ["first"]],
    [{ amount: { from: 1 }, senderPublicKey: bob.publicKey }, "", ["third"]],
    [{ timestamp: { from: 33 } }, "", []],
    [{ timestamp: { from: 32, to: 32 } }, "?limit=1&orderBy=amount:desc", ["third"]],
    [{ expirationValue: { to: 100 }, amount: { to: 60 } }, "", ["second"]],
  ])("POST /locks/search finds %j%s.", async (body, query, found) => {
    expect(locksOf(await fixture.post(`/api/locks/search${query}`, body))).toEqual(found);
  });

  test.each([
    [{ foo: 1 }, ""],
    [{ amount: 5 }, ""],
    [{ amount: { from: -1 } }, ""],
    [{ amount: { above: 1 } }, ""],
    [{ vendorField: "" }, ""],
    [{ vendorField: "a".repeat(256) }, ""],
    [{ expirationType: 3 }, ""],
    [{ isExpired: "perhaps" }, ""],
    [{ orderBy: "amount:asc" }, ""],
    [{}, "?isExpired=true"],
    [[], ""],
  ])("POST /locks/search refuses %j%s.", async (body, query) => {
    expect((await fixture.post(`/api/locks/search${query}`, body)).statusCode).toBe(422);
  });
});

describe("POST /locks/unlocked", () => {
  const ids = [ended.refunded, ended.claimed, first];
  const transactionsOf = (response: { json(): unknown }) => rowsOf(response).map(({ id }) => id);

  test("POST /locks/unlocked lists transactions that claimed or refunded the locks, oldest first.", async () => {
    const response = await fixture.post("/api/locks/unlocked", { ids });
    expect(rowsOf(response)).toEqual([
      expect.objectContaining({ id: more.claim.data.id, type: 9, amount: "0", sender: carol.address }),
      expect.objectContaining({
        id: more.refund.data.id,
        asset: { refund: { lockTransactionId: ended.refunded } },
        confirmations: 1,
      }),
    ]);
    expect(response.json().meta).toMatchObject({
      totalCount: 2,
      self: "/api/locks/unlocked?page=1&limit=100",
    });
  });

  test("POST /locks/unlocked supports pages and orders.", async () => {
    const page = await fixture.post("/api/locks/unlocked?limit=1&page=2", { ids });
    expect(transactionsOf(page)).toEqual([more.refund.data.id]);
    expect(page.json().meta).toMatchObject({ count: 1, pageCount: 2 });
    const reversed = await fixture.post("/api/locks/unlocked?orderBy=type:desc", { ids });
    expect(transactionsOf(reversed)).toEqual([more.refund.data.id, more.claim.data.id]);
  });

  test("POST /locks/unlocked finds nothing for open locks and for none.", async () => {
    for (const body of [{ ids: [first] }, {}]) {
      const response = await fixture.post("/api/v2/locks/unlocked", body);
      expect(response.statusCode).toBe(200);
      expect(response.json()).toMatchObject({ data: [], meta: { totalCount: 0, last: null } });
    }
  });

  test.each([
    [{ ids: [] }],
    [{ ids: [first, first] }],
    [{ ids: "x" }],
    [{ ids: ["x"] }],
    [{ ids: Array.from({ length: 26 }, (_, number) => `${number}`.padStart(64, "0")) }],
    [{ ids, foo: 1 }],
  ])("POST /locks/unlocked refuses %j.", async (body) => {
    expect((await fixture.post("/api/locks/unlocked", body)).statusCode).toBe(422);
  });
});

describe("GET /wallets/{id}/locks", () => {
  test.each([
    [`${alice.address}/locks?orderBy=amount:asc`, ["second", "first"]],
    [`${alice.publicKey}/locks?isExpired=true`, ["second"]],
    [`${bob.address}/locks`, ["third"]],
    [`${alice.address}/locks?limit=1&page=2&orderBy=amount:asc`, ["first"]],
    [`${carol.address}/locks`, []],
    [`${cold.address}/locks`, []],
  ])("GET /wallets/{id}/locks lists the locks that the wallet created: %s.", async (path, found) => {
    expect(locksOf(await fixture.get(`/api/wallets/${path}`))).toEqual(found);
  });

  test("GET /wallets/{id}/locks returns 404 for an unknown wallet and 422 for unknown parameters.", async () => {
    const unknown = await fixture.get(`/api/wallets/${stranger.address}/locks`);
    expect(unknown.json()).toMatchObject({ statusCode: 404, message: "Wallet not found" });
    for (const parameters of ["isExpired=perhaps", "orderBy=foo:asc", "amount=1"]) {
      expect((await fixture.get(`/api/wallets/${alice.address}/locks?${parameters}`)).statusCode).toBe(422);
    }
  });
});
