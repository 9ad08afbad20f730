import { afterAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { alice, bob, carol, chain, cold, heads, treasury, unik } from "../../test-support/http/chain.ts";
import { openFixture, rowsOf } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const blockAt = (height: number) => present(chain.blocks[height - 1], `block ${height}`);
const heightsOf = (response: { json(): unknown }) => rowsOf(response).map(({ height }) => height);

test("GET /blocks lists blocks, newest first, under both prefixes.", async () => {
  for (const prefix of ["/api", "/api/v2"]) {
    const response = await fixture.get(`${prefix}/blocks`);
    expect(response.statusCode).toBe(200);
    expect(heightsOf(response)).toEqual([4, 3, 2, 1]);
    expect(response.json().meta).toMatchObject({ count: 4, totalCount: 4, totalCountIsEstimate: false });
    expect(response.json().meta.self).toBe(`${prefix}/blocks?transform=true&page=1&limit=100`);
  }
});

test("GET /blocks/{id} shows a block in its transformed form.", async () => {
  const { header } = blockAt(3);
  const { data } = (await fixture.get(`/api/blocks/${header.id}`)).json();
  expect(data).toEqual({
    id: header.id,
    version: 0,
    height: 3,
    previous: blockAt(2).header.id,
    forged: {
      reward: "200000000",
      fee: "40000000",
      total: "240000000",
      amount: "5",
      unikMintRewards: "0",
      foundationRewards: "0",
    },
    payload: { hash: header.payloadHash, length: 128 },
    generator: { username: unik.bob, address: bob.address, publicKey: bob.publicKey },
    signature: header.blockSignature,
    confirmations: 1,
    transactions: 4,
    timestamp: { epoch: 16, unix: 1568893346, human: "2019-09-19T11:42:26.474Z" },
  });
});

test("GET /blocks/{id} shows a block in its raw form.", async () => {
  const { header } = blockAt(2);
  const { data } = (await fixture.get("/api/blocks/2?transform=FALSE")).json();
  expect(data).toEqual({
    id: header.id,
    version: 0,
    timestamp: 8,
    previousBlock: heads.genesis.id,
    height: 2,
    numberOfTransactions: 0,
    totalAmount: "0",
    totalFee: "0",
    reward: "200000000",
    payloadLength: 0,
    payloadHash: header.payloadHash,
    generatorPublicKey: carol.publicKey,
    blockSignature: header.blockSignature,
  });
});

test("GET /blocks/{id} returns the first block by its decimal id and by its height; its generator has no name.", async () => {
  const byId = (await fixture.get(`/api/blocks/${heads.genesis.id}`)).json();
  expect(byId.data).toMatchObject({ height: 1, previous: "0", confirmations: 3 });
  expect(byId.data.generator).toEqual({ address: treasury.address, publicKey: treasury.publicKey });
  expect((await fixture.get("/api/blocks/1")).json()).toEqual(byId);
  expect((await fixture.get("/api/blocks/first")).json().data.id).toBe(heads.genesis.id);
  expect((await fixture.get("/api/blocks/007")).statusCode).toBe(404);
  expect((await fixture.get("/api/blocks/001")).statusCode).toBe(200);
});

test("GET /blocks/last shows the last block without the rewards that only a block by id has.", async () => {
  const { data } = (await fixture.get("/api/blocks/last")).json();
  expect(data).toMatchObject({ id: heads.head.id, confirmations: 0 });
  expect(data.forged).not.toHaveProperty("unikMintRewards");
});

test.each([
  ["orderBy=height:asc", [1, 2, 3, 4]],
  ["orderBy=timestamp:asc", [1, 2, 3, 4]],
  ["orderBy=numberOfTransactions:desc", [3, 1, 4, 2]],
  ["orderBy=totalFee:desc&limit=2", [4, 3]],
  ["orderBy=version:asc", [4, 3, 2, 1]],
  ["height=2", [2]],
  [`id=${heads.third.id}`, [3]],
  [`id=${heads.third.id.toUpperCase()}`, []],
  [`previousBlock=${heads.third.id}`, [4]],
  ["previousBlock=0", [1]],
  [`generatorPublicKey=${bob.publicKey}`, [4, 3]],
  ["totalFee=40000000", [3]],
  ["totalAmount=10000000000000001", []],
  ["timestamp=8", [2]],
  ["version=0&numberOfTransactions=4", [3]],
  ["version=1", []],
  ["reward=0", [1]],
  ["limit=", [4, 3, 2, 1]],
])("GET /blocks lists blocks with %s.", async (parameters, heights) => {
  const response = await fixture.get(`/api/blocks?${parameters}`);
  // The premine is beyond the range of parameters.
  expect(response.statusCode).toBe(parameters.startsWith("totalAmount") ? 422 : 200);
  if (response.statusCode === 200) expect(heightsOf(response)).toEqual(heights);
});

test.each([
  "foo=1",
  "limit=0",
  "limit=101",
  "limit=1e1",
  "limit=1&limit=2",
  "page=0",
  "page=-1",
  "page=1.5",
  "page=99999999999999999999",
  "offset=-1",
  "orderBy=id:asc",
  "orderBy=height:up",
  "orderBy=HEIGHT:ASC",
  "orderBy=height:asc,version:desc",
  "transform=maybe",
  "height=0",
  "id=zz",
  "generatorPublicKey=02ab",
])("GET /blocks refuses %s.", async (parameters) => {
  const response = await fixture.get(`/api/blocks?${parameters}`);
  expect(response.json()).toMatchObject({ statusCode: 422, error: "Unprocessable Entity" });
  expect(response.json()).not.toHaveProperty("validation");
});

test("GET /blocks/{id} returns 404 for unknown blocks and 422 for invalid ids.", async () => {
  for (const id of ["99999", "0".repeat(64), heads.third.id.toUpperCase()]) {
    const response = await fixture.get(`/api/blocks/${id}`);
    expect(response.json()).toEqual({ statusCode: 404, error: "Not Found", message: "Block not found" });
  }
  expect((await fixture.get("/api/blocks/zzz")).statusCode).toBe(422);
  expect((await fixture.get("/api/blocks/1?foo=1")).statusCode).toBe(422);
});

test.each([
  [{}, "", [4, 3, 2, 1]],
  [{}, "?limit=2&page=2", [2, 1]],
  [{ orderBy: "height:asc" }, "?offset=1&limit=2", [2, 3]],
  [{ id: heads.third.id }, "", [3]],
  [{ version: 0 }, "?limit=1", [4]],
  [{ version: "1" }, "", []],
  [{ previousBlock: heads.third.id }, "", [4]],
  [{ previousBlock: "0" }, "", [1]],
  [{ previousBlock: "7" }, "", []],
  [{ generatorPublicKey: bob.publicKey }, "", [4, 3]],
  [{ height: { from: 2, to: 3 } }, "", [3, 2]],
  [{ height: { from: "2", to: "2" } }, "", [2]],
  [{ height: { from: 3 } }, "", [4, 3]],
  [{ height: { to: 1 } }, "", [1]],
  [{ height: { from: 3, to: 2 } }, "", []],
  [{ height: { from: 5000 } }, "", []],
  [{ height: {} }, "?limit=1", [4]],
  [{ timestamp: { from: 8, to: 16 } }, "", [3, 2]],
  [{ timestamp: { from: 9, to: 15 } }, "", []],
  [{ timestamp: { from: 9 }, height: { to: 3 }, orderBy: "timestamp:asc" }, "", [3]],
  [{ numberOfTransactions: { from: 1, to: 2 } }, "", [4, 1]],
  [{ totalAmount: { from: 5, to: 1000 } }, "", [4, 3]],
  [{ totalFee: { from: 1 }, generatorPublicKey: bob.publicKey, height: { from: 4 } }, "", [4]],
  [{ reward: { from: 0, to: 0 } }, "", [1]],
  [{ totalFee: { from: 1 }, orderBy: "totalFee:asc" }, "", [3, 4]],
])("POST /blocks/search finds %j%s.", async (body, query, heights) => {
  const response = await fixture.post(`/api/blocks/search${query}`, body);
  expect(heightsOf(response)).toEqual(heights);
});

test("POST /blocks/search responds with links to itself and with either form.", async () => {
  const response = await fixture.post("/api/v2/blocks/search?limit=1", {});
  expect(response.json().meta).toMatchObject({
    count: 1,
    totalCount: 4,
    next: "/api/v2/blocks/search?limit=1&transform=true&page=2",
  });
  const raw = await fixture.post("/api/blocks/search?transform=false", { height: { from: 2, to: 2 } });
  expect(rowsOf(raw)[0]).toMatchObject({ previousBlock: heads.genesis.id, timestamp: 8 });
});

test.each([
  [{ foo: 1 }, ""],
  [{ height: 5 }, ""],
  [{ height: { from: 0 } }, ""],
  [{ height: { to: "0" } }, ""],
  [{ totalFee: { from: -1 } }, ""],
  [{ height: { from: 1.5 } }, ""],
  [{ height: { from: null } }, ""],
  [{ height: { above: 1 } }, ""],
  [{ orderBy: "foo:asc" }, ""],
  [{ payloadHash: "0".repeat(64) }, ""],
  [{ id: "zz" }, ""],
  [{}, "?orderBy=height:asc"],
  [{}, "?height=1"],
  [[], ""],
])("POST /blocks/search refuses the search %j%s.", async (body, query) => {
  expect((await fixture.post(`/api/blocks/search${query}`, body)).statusCode).toBe(422);
});

describe("GET /blocks/{id}/transactions", () => {
  const { hello, payments, vote, mint } = Object.fromEntries(
    Object.entries(chain.sent).map(([name, { data }]) => [name, data.id]),
  ) as Record<keyof typeof chain.sent, string>;
  const idsOf = (response: { json(): unknown }) => rowsOf(response).map(({ id }) => id);

  test("GET /blocks/{id}/transactions lists transactions in their order, by id and by height.", async () => {
    for (const id of ["3", heads.third.id]) {
      const response = await fixture.get(`/api/blocks/${id}/transactions`);
      expect(idsOf(response)).toEqual([hello, payments, vote, mint]);
      expect(rowsOf(response)[0]).toMatchObject({ blockId: heads.third.id, confirmations: 2, amount: "5" });
    }
    expect(idsOf(await fixture.get("/api/blocks/2/transactions"))).toEqual([]);
    const genesis = await fixture.get(`/api/v2/blocks/${heads.genesis.id}/transactions?limit=1`);
    expect(genesis.json().meta).toMatchObject({ totalCount: 2, pageCount: 2 });
  });

  test.each([
    ["limit=1&page=2", [payments]],
    ["offset=3", [mint]],
    ["orderBy=amount:desc&limit=1", [hello]],
    ["orderBy=fee:asc", [hello, payments, vote, mint]],
    ["orderBy=timestamp:desc", [hello, payments, vote, mint]],
    [`id=${vote}`, [vote]],
    [`blockId=${heads.third.id}&limit=1`, [hello]],
    [`blockId=${heads.head.id}`, []],
    // A type alone is one of the core's.
    ["type=6", [payments]],
    ["type=5", []],
    ["version=1", []],
    ["version=0", []],
    [`senderPublicKey=${bob.publicKey}`, []],
    [`senderId=${alice.address}&limit=1`, [hello]],
    [`recipientId=${cold.address}`, [hello, payments]],
    ["timestamp=16&limit=1", [hello]],
    ["timestamp=17", []],
    ["amount=5", [hello]],
    ["fee=10000000&limit=1", [hello]],
    ["vendorField=100%25", [hello]],
  ])("`GET /blocks` lists blocks with %s.", async (parameters, found) => {
    expect(idsOf(await fixture.get(`/api/blocks/3/transactions?${parameters}`))).toEqual(found);
  });

  test.each(["typeGroup=1", "nonce=1", "orderBy=foo:asc", "limit=0", "foo=1"])(
    "GET /blocks/{id}/transactions refuses %s.",
    async (parameters) => {
      expect((await fixture.get(`/api/blocks/3/transactions?${parameters}`)).statusCode).toBe(422);
    },
  );

  test("GET /blocks/{id}/transactions returns 404 for unknown blocks, and for invalid ids.", async () => {
    for (const id of ["99", "0".repeat(64), "zzz"]) {
      const response = await fixture.get(`/api/blocks/${id}/transactions`);
      expect(response.json()).toEqual({ statusCode: 404, error: "Not Found", message: "Block not found" });
    }
  });
});
