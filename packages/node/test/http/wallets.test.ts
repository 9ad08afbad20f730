import { afterAll, expect, test } from "vitest";
import {
  ALICE_BALANCE,
  alice,
  BOB_VOTES,
  bob,
  carol,
  cold,
  heads,
  secondKey,
  stranger,
  treasury,
  unik,
} from "../../test-support/http/chain.ts";
import { openFixture, rowsOf } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const CHAINMETA = {
  height: 4,
  timestamp: { epoch: 24, unix: 1568893354, human: "2019-09-19T11:42:34.474Z" },
};

test("GET /wallets/{id} shows a wallet as interface.md 4.7 types it.", async () => {
  const response = await fixture.get(`/api/v2/wallets/${alice.address}`);
  expect(response.statusCode).toBe(200);
  expect(response.body).toContain(`"balance":${ALICE_BALANCE},`);
  const { data, chainmeta } = response.json();
  expect(chainmeta).toEqual(CHAINMETA);
  expect(data).toMatchObject({
    address: alice.address,
    publicKey: alice.publicKey,
    username: "",
    secondPublicKey: secondKey,
    nonce: "4",
    lockedBalance: "0",
    attributes: { vote: bob.publicKey, tokens: { [unik.alice]: { type: 1 } } },
    isDelegate: false,
    isResigned: false,
    vote: bob.publicKey,
  });
});

test("GET /wallets/{id} finds a wallet by public key and by username.", async () => {
  const byAddress = await fixture.get(`/api/wallets/${bob.address}`);
  for (const id of [bob.publicKey, unik.bob]) {
    expect((await fixture.get(`/api/wallets/${id}`)).body).toBe(byAddress.body);
  }
  expect(byAddress.json().data).toMatchObject({ username: unik.bob, isDelegate: true });
  expect(byAddress.json().data.attributes.delegate).toMatchObject({
    voteBalance: `${BOB_VOTES}`,
    producedBlocks: 2,
  });
});

test("GET /wallets/{id} finds a cold wallet by its public key, which the chain does not know, and what it received.", async () => {
  for (const path of ["", "/uniks", "/transactions", "/transactions/received", "/locks", "/votes"]) {
    const [byAddress, byKey] = await Promise.all(
      [cold.address, cold.publicKey].map(async (id) =>
        (await fixture.get(`/api/v2/wallets/${id}${path}`)).json(),
      ),
    );
    expect([path, byKey.data]).toEqual([path, byAddress.data]);
    expect(byKey.data).toBeDefined();
  }
  const { data } = (await fixture.get(`/api/wallets/${cold.publicKey}/transactions`)).json();
  expect(data.length).toBeGreaterThan(0);
});

test("GET /wallets/{id} shows missing values of a cold wallet as empty, and a negative balance.", async () => {
  const { data } = (await fixture.get(`/api/wallets/${cold.address}`)).json();
  expect(data).toMatchObject({
    publicKey: "",
    username: "",
    secondPublicKey: null,
    balance: 1027,
    attributes: {},
  });
  expect(data).not.toHaveProperty("vote");
  const debt = await fixture.get(`/api/wallets/${treasury.address}`);
  expect(debt.body).toContain('"balance":-10000000000000001,');
});

test("GET /wallets/{id} returns 404 for an unknown wallet and 422 for an invalid id.", async () => {
  for (const id of [stranger.address, stranger.publicKey, "unknown", alice.publicKey.toUpperCase()]) {
    const response = await fixture.get(`/api/wallets/${id}`);
    expect(response.json()).toEqual({ statusCode: 404, error: "Not Found", message: "Wallet not found" });
  }
  for (const id of ["!!%3F", "UPPER", "a%20b"]) {
    expect((await fixture.get(`/api/wallets/${id}`)).statusCode).toBe(422);
  }
});

test("GET /wallets lists wallets in base encoding, the richest first.", async () => {
  const response = await fixture.get("/api/wallets?limit=2");
  expect(rowsOf(response).map(({ balance }) => balance)).toEqual([`${ALICE_BALANCE}`, "1027"]);
  expect(rowsOf(response)[1]).toEqual({
    address: cold.address,
    nonce: "0",
    balance: "1027",
    attributes: {},
    isDelegate: false,
    isResigned: false,
  });
  expect(response.json()).toMatchObject({ chainmeta: CHAINMETA, meta: { totalCount: 6, pageCount: 3 } });
});

const [richest, coldOne, delegate, genesisDelegate] = [alice, cold, bob, carol].map(({ address }) => address);
test.each([
  ["orderBy=balance:asc&limit=1", [treasury.address]],
  ["orderBy=nonce:desc&limit=1", [richest]],
  ["orderBy=voteBalance:desc&limit=1", [delegate]],
  ["orderBy=secondPublicKey:asc&limit=1", [richest]],
  ["orderBy=secondPublicKey:desc&limit=1", [richest]],
  [`vote=${bob.publicKey}`, [richest, delegate]],
  ["username=genesis_1", [genesisDelegate]],
  ["username=genesis", []],
  ["balance=1027", [coldOne]],
  ["balance=-1", []],
  [`voteBalance=${BOB_VOTES}`, [delegate]],
  ["producedBlocks=2", [delegate]],
  [`secondPublicKey=${secondKey}&address=${richest}`, [richest]],
  [`publicKey=${carol.publicKey}`, [genesisDelegate]],
])("GET /wallets lists wallets with %s.", async (parameters, addresses) => {
  const response = await fixture.get(`/api/wallets?${parameters}`);
  expect(rowsOf(response).map(({ address }) => address)).toEqual(addresses);
});

test("GET /wallets puts resigned delegates first, and accepts 0 for any value.", async () => {
  for (const direction of ["asc", "desc"]) {
    const response = await fixture.get(`/api/wallets?orderBy=resigned:${direction}&limit=1`);
    expect(rowsOf(response)[0]).toMatchObject({ isResigned: true });
  }
  const response = await fixture.get("/api/wallets?voteBalance=0&producedBlocks=0");
  expect(response.json().meta.totalCount).toBe(6);
});

test.each(["address=abc", "publicKey=02ab", "balance=x", "voteBalance=-1", "orderBy=rank:asc", "foo=1"])(
  "GET /wallets refuses %s.",
  async (parameters) => {
    expect((await fixture.get(`/api/wallets?${parameters}`)).statusCode).toBe(422);
  },
);

test("GET /wallets/{id}/uniks lists the uniks of a wallet by address, public key and username.", async () => {
  for (const id of [alice.address, alice.publicKey]) {
    const response = await fixture.get(`/api/v2/wallets/${id}/uniks`);
    expect(rowsOf(response)).toEqual([
      {
        id: unik.alice,
        ownerId: alice.address,
        type: "1",
        explicitValues: ["alice", "wonder"],
        defaultExplicitValue: "alice",
      },
      { id: unik.bare, ownerId: alice.address },
    ]);
    expect(response.json()).toMatchObject({ chainmeta: CHAINMETA, meta: { count: 2 } });
  }
  expect(rowsOf(await fixture.get(`/api/wallets/${unik.bob}/uniks?limit=1`))).toHaveLength(1);
  expect(rowsOf(await fixture.get(`/api/wallets/${alice.address}/nfts`))[0]).toEqual({
    id: unik.alice,
    ownerId: alice.address,
  });
});

test("GET /wallets/{id}/uniks lists none for a wallet without uniks, known or not, and returns 422 for an invalid one.", async () => {
  for (const id of [cold.address, stranger.publicKey]) {
    const response = await fixture.get(`/api/wallets/${id}/uniks`);
    expect(response.json()).toMatchObject({ data: [], meta: { totalCount: 0, last: null, pageCount: 1 } });
  }
  expect((await fixture.get(`/api/wallets/${alice.address}/uniks?foo=1`)).statusCode).toBe(422);
  expect((await fixture.get("/api/wallets/!%3F/uniks")).statusCode).toBe(422);
});

test("The API describes the same head in every response.", () => {
  expect(heads.head.height).toBe(CHAINMETA.height);
});

test("GET /wallets/top lists the richest wallets, whatever order is requested.", async () => {
  const response = await fixture.get("/api/v2/wallets/top?limit=2&orderBy=balance:asc");
  expect(rowsOf(response).map(({ address }) => address)).toEqual([richest, coldOne]);
  expect(rowsOf(response)[0]).toMatchObject({ balance: `${ALICE_BALANCE}` });
  expect(response.json()).not.toHaveProperty("chainmeta");
  expect(rowsOf(await fixture.get("/api/wallets/top?username=genesis_1"))).toHaveLength(1);
  for (const parameters of ["foo=1", "orderBy=rank:asc", "limit=0"]) {
    expect((await fixture.get(`/api/wallets/top?${parameters}`)).statusCode).toBe(422);
  }
});

test.each([
  [{}, "?limit=2", [richest, coldOne]],
  [{}, "?limit=1&page=2", [coldOne]],
  [{}, "?orderBy=balance:asc&limit=1", [treasury.address]],
  [{ address: alice.address }, "", [richest]],
  [{ addresses: [alice.address, bob.address, stranger.address] }, "", [richest, delegate]],
  [{ publicKey: carol.publicKey }, "", [genesisDelegate]],
  [{ secondPublicKey: secondKey }, "", [richest]],
  [{ vote: bob.publicKey }, "", [richest, delegate]],
  [{ username: "genesis_1" }, "", [genesisDelegate]],
  // The complete name.
  [{ username: "genesis" }, "", []],
  [{ producedBlocks: 2 }, "", [delegate]],
  [{ producedBlocks: 0 }, "?limit=1", [richest]],
  [{ balance: { from: 11, to: 1027 } }, "", [coldOne, delegate, genesisDelegate]],
  [{ balance: { to: -1 } }, "", [treasury.address]],
  [{ balance: { from: "400", to: "400" } }, "", [delegate]],
  [{ voteBalance: { from: 1 } }, "?orderBy=voteBalance:desc&limit=1", [delegate]],
  [{ lockedBalance: { from: 1 } }, "", []],
  // Whose lock has ended.
  [{ lockedBalance: { to: 1 } }, "", [richest]],
  [{ balance: { from: 1 }, vote: bob.publicKey, voteBalance: { from: 1 } }, "", [delegate]],
])("POST /wallets/search finds %j%s.", async (body, query, addresses) => {
  const response = await fixture.post(`/api/wallets/search${query}`, body);
  expect(rowsOf(response).map(({ address }) => address)).toEqual(addresses);
});

test.each([
  [{ foo: 1 }, ""],
  [{ balance: 5 }, ""],
  [{ balance: { from: "x" } }, ""],
  [{ addresses: [] }, ""],
  [{ addresses: ["short"] }, ""],
  [{ addresses: [alice.address, alice.address] }, ""],
  [{ vote: "x" }, ""],
  [{ lockedBalance: { from: -1 } }, ""],
  [{ voteBalance: 1 }, ""],
  [{ producedBlocks: { from: 1 } }, ""],
  [{ orderBy: "balance:asc" }, ""],
  [{}, "?orderBy=foo:asc"],
  [{}, `?address=${alice.address}`],
])("POST /wallets/search refuses the search %j%s.", async (body, query) => {
  expect((await fixture.post(`/api/wallets/search${query}`, body)).statusCode).toBe(422);
});

test("GET /wallets/{id}/{tokens} refuses tokens of other names, and counts the request.", async () => {
  const response = await fixture.get(`/api/wallets/${alice.address}/foos`);
  const message = "the tokens of a wallet are uniks or nfts";
  expect(response.json()).toEqual({ statusCode: 422, error: "Unprocessable Entity", message });
  expect((await fixture.get(`/api/wallets/${alice.address}/foo`)).statusCode).toBe(404);
});

test("GET /wallets lists the wallets of several addresses, as wallet kits ask for them.", async () => {
  const found = rowsOf(
    await fixture.get(`/api/wallets?address=${cold.address},${stranger.address},${bob.address}`),
  );
  expect(found.map(({ address }) => address)).toEqual([cold.address, bob.address]);
  expect((await fixture.get(`/api/wallets?address=${cold.address},`)).statusCode).toBe(422);
});
