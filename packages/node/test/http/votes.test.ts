import { afterAll, expect, test } from "vitest";
import { alice, bob, chain, cold, heads, stranger } from "../../test-support/http/chain.ts";
import { openFixture, rowsOf } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const { hello, vote } = chain.sent;
const idsOf = (response: { json(): unknown }) => rowsOf(response).map(({ id }) => id);

test("GET /votes lists votes, under both prefixes.", async () => {
  for (const prefix of ["/api", "/api/v2"]) {
    const response = await fixture.get(`${prefix}/votes`);
    expect(rowsOf(response)).toEqual([
      expect.objectContaining({
        id: vote.data.id,
        typeGroup: 2001,
        type: 5,
        amount: "0",
        asset: { votes: [`+${bob.publicKey}`] },
      }),
    ]);
    // Only the list of all transactions names uniks.
    expect(rowsOf(response)[0]).not.toHaveProperty("unikname");
    expect(response.json().meta).toMatchObject({
      totalCountIsEstimate: false,
      totalCount: 1,
      self: `${prefix}/votes?transform=true&page=1&limit=100`,
    });
  }
});

test.each([
  [`id=${vote.data.id}`, 1],
  [`id=${hello.data.id}`, 0],
  [`blockId=${heads.third.id}`, 1],
  [`blockId=${heads.head.id}`, 0],
  ["version=2", 1],
  ["version=1", 0],
  [`senderPublicKey=${alice.publicKey}`, 1],
  [`senderId=${alice.address}`, 1],
  [`senderId=${bob.address}`, 0],
  [`recipientId=${alice.address}`, 1],
  [`recipientId=${cold.address}`, 0],
  ["timestamp=16", 1],
  ["timestamp=17", 0],
  ["amount=0", 1],
  ["fee=10000000", 1],
  ["vendorField=zzz", 0],
  ["orderBy=nonce:desc", 1],
  ["page=2", 0],
])("GET /votes lists votes with %s.", async (parameters, count) => {
  expect(rowsOf(await fixture.get(`/api/votes?${parameters}`))).toHaveLength(count);
});

test.each(["type=5", "typeGroup=2001", "nonce=1", "orderBy=foo:asc", "transform=x", "limit=0"])(
  "GET /votes refuses %s.",
  async (parameters) => {
    expect((await fixture.get(`/api/votes?${parameters}`)).statusCode).toBe(422);
  },
);

test("GET /votes/{id} shows a vote, and nothing else.", async () => {
  const { data } = (await fixture.get(`/api/votes/${vote.data.id}`)).json();
  expect(data).toMatchObject({ id: vote.data.id, blockId: heads.third.id, fee: "10000000" });
  const raw = (await fixture.get(`/api/votes/${vote.data.id}?transform=false`)).json();
  expect(raw.data).toMatchObject({ network: 30, fee: "10000000" });
  for (const id of [hello.data.id, "0".repeat(64)]) {
    const response = await fixture.get(`/api/votes/${id}`);
    expect(response.json()).toEqual({ statusCode: 404, error: "Not Found", message: "Vote not found" });
  }
  expect((await fixture.get("/api/votes/zz")).statusCode).toBe(422);
  expect((await fixture.get(`/api/votes/${vote.data.id}?foo=1`)).statusCode).toBe(422);
});

test("GET /wallets/{id}/votes lists the votes of a wallet.", async () => {
  expect(idsOf(await fixture.get(`/api/wallets/${alice.publicKey}/votes`))).toEqual([vote.data.id]);
  const raw = await fixture.get(`/api/wallets/${alice.address}/votes?transform=false`);
  expect(rowsOf(raw)[0]).toHaveProperty("network");
  for (const { address } of [bob, cold]) {
    expect(rowsOf(await fixture.get(`/api/wallets/${address}/votes`))).toEqual([]);
  }
  expect((await fixture.get(`/api/wallets/${stranger.address}/votes`)).json().message).toBe(
    "Wallet not found",
  );
  expect((await fixture.get(`/api/wallets/${alice.address}/votes?orderBy=fee:asc`)).statusCode).toBe(422);
});
