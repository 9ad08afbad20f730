import { createClient, findDelegate } from "@uniknode/client";
import { createNetwork, dalinet } from "@uniknode/protocol";
import { afterAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import {
  alice,
  BOB_VOTES,
  bob,
  carol,
  chain,
  dave,
  heads,
  stranger,
  unik,
} from "../../test-support/http/chain.ts";
import { openFixture, rowsOf } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const namesOf = (response: { json(): unknown }) => rowsOf(response).map(({ unikname }) => unikname);

test("GET /delegates lists all delegates by rank, resigned ones last.", async () => {
  for (const prefix of ["/api", "/api/v2"]) {
    const response = await fixture.get(`${prefix}/delegates`);
    expect(namesOf(response)).toEqual(["bob", "genesis_1", unik.dave]);
    expect(response.json().meta).toMatchObject({
      totalCount: 3,
      self: `${prefix}/delegates?page=1&limit=100`,
    });
  }
});

test("GET /delegates/{id} shows a delegate, whose weighted votes are compared with those of its type.", async () => {
  for (const id of [bob.address, bob.publicKey, unik.bob]) {
    const { data } = (await fixture.get(`/api/delegates/${id}`)).json();
    expect(data).toEqual({
      unikname: "bob",
      username: unik.bob,
      type: "individual",
      address: bob.address,
      publicKey: bob.publicKey,
      vote: bob.publicKey,
      votes: "200",
      rank: 1,
      isResigned: false,
      blocks: {
        produced: 2,
        last: {
          id: heads.head.id,
          height: 4,
          timestamp: { epoch: 24, unix: 1568893354, human: "2019-09-19T11:42:34.474Z" },
        },
      },
      production: { approval: 66.66 },
      forged: { fees: "90000000", rewards: "400000000", total: "490000000" },
    });
  }
});

test("The client finds a delegate by its displayed name, username, address or public key.", async () => {
  const client = createClient({
    url: "http://127.0.0.1",
    fetch: async (request) => {
      const { payload, statusCode } = await fixture.get(`${request}`.replace("http://127.0.0.1", ""));
      return new Response(payload, { status: statusCode });
    },
  });
  for (const text of ["bob", "BOB", unik.bob, bob.address, bob.publicKey]) {
    expect((await findDelegate(client, text)).data, text).toMatchObject({ publicKey: bob.publicKey });
  }
  for (const text of ["bo", "A name", alice.address, "x".repeat(300)]) {
    await expect(findDelegate(client, text), text).rejects.toMatchObject({ code: "API_NOT_FOUND" });
  }
  await expect(findDelegate(client, "")).rejects.toMatchObject({ code: "API_ARGUMENT" });
});

test("The client finds no delegate by a name that two of them have, and asks old nodes by username.", async () => {
  const row = (username: string) => ({ username, unikname: "Zoë", publicKey: username });
  const named = async (text: string, list: () => Response) => {
    const fetch = async (request: unknown) =>
      `${request}`.includes("name=") ? list() : Response.json({ data: row("founder") });
    const client = createClient({ url: "http://127.0.0.1", fetch: fetch as typeof globalThis.fetch });
    return (await findDelegate(client, text)).data.username;
  };
  const two = () => Response.json({ meta: { next: null, nextCursor: null }, data: [row("a"), row("b")] });
  await expect(named("zoë", two)).rejects.toThrow('several delegates have the name "zoë"');
  expect(await named("b", two)).toBe("b");
  expect(await named("founder", () => Response.json({}, { status: 422 }))).toBe("founder");
});

test("The client finds a delegate by its address or public key, even if another one has this name.", async () => {
  const row = (username: string, unikname: string) => ({ username, unikname });
  for (const text of [bob.address, bob.publicKey]) {
    const client = createClient({
      url: "http://127.0.0.1",
      fetch: async (request) =>
        `${request}`.includes("name=")
          ? Response.json({ meta: { next: null, nextCursor: null }, data: [row("other", text)] })
          : Response.json({ data: row("bob", "bob") }),
    });
    expect((await findDelegate(client, text)).data.username).toBe("bob");
  }
});

test("GET /delegates compares all votes with the supply while types do not compete.", async () => {
  const network = createNetwork({ ...dalinet, milestones: dalinet.milestones.slice(0, 2) });
  const old = openFixture({}, { network });
  const { data } = (await old.get(`/api/delegates/${unik.bob}`)).json();
  expect(data).toMatchObject({ votes: `${BOB_VOTES}`, production: { approval: 10 } });
  await old.close();
});

test("A delegate lacks members that it does not have, and is shown as genesis without a type.", async () => {
  const [genesis, resigned] = await Promise.all(
    [carol, dave].map(async ({ address }) => (await fixture.get(`/api/delegates/${address}`)).json().data),
  );
  expect(genesis).toMatchObject({
    type: "genesis",
    vote: "",
    production: { approval: 0 },
    blocks: { produced: 1 },
  });
  expect(genesis.blocks).not.toHaveProperty("last");
  expect(resigned).toMatchObject({ isResigned: true, unikname: unik.dave });
  expect(resigned).not.toHaveProperty("rank");
});

test.each([
  ["orderBy=rank:desc", ["genesis_1", "bob", unik.dave]],
  ["orderBy=username:asc", ["bob", unik.dave, "genesis_1"]],
  ["orderBy=approval:desc", ["bob", unik.dave, "genesis_1"]],
  ["orderBy=votes:asc&limit=1", ["genesis_1"]],
  ["orderBy=forgedTotal:desc&limit=1", ["bob"]],
  ["orderBy=2", ["bob", unik.dave, "genesis_1"]],
  ["orderBy=-2", ["genesis_1", unik.dave, "bob"]],
  ["orderBy=-5", ["bob", "genesis_1", unik.dave]],
  ["orderBy=0", ["bob", "genesis_1", unik.dave]],
  ["orderBy=99999999999999999999", ["bob", "genesis_1", unik.dave]],
  ["orderBy=10&limit=1", [unik.dave]],
  ["type=resigned", [unik.dave]],
  ["type=never-forged", [unik.dave]],
  ["username=genesis", ["genesis_1"]],
  ["name=GENESIS_", ["genesis_1"]],
  ["name=bo", ["bob"]],
  [`vote=${bob.publicKey}`, ["bob"]],
  [`address=${carol.address}`, ["genesis_1"]],
  [`publicKey=${carol.publicKey}`, ["genesis_1"]],
  ["balance=11", ["genesis_1"]],
  ["voteBalance=200", ["bob"]],
  ["producedBlocks=1", ["genesis_1"]],
  [`secondPublicKey=${carol.publicKey}`, []],
  ["offset=1&limit=1", ["genesis_1"]],
  ["page=2&limit=2", [unik.dave]],
])("GET /delegates lists delegates with %s.", async (parameters, names) => {
  expect(namesOf(await fixture.get(`/api/delegates?${parameters}`))).toEqual(names);
});

test.each([
  "orderBy=foo:asc",
  "orderBy=rank:up",
  "orderBy=1.5",
  "limit=101",
  "balance=-1",
  "type=x",
  "username=A%20B",
  "foo=1",
])("GET /delegates refuses %s.", async (parameters) => {
  expect((await fixture.get(`/api/delegates?${parameters}`)).statusCode).toBe(422);
});

test("GET /delegates/{id} returns 404 for wallets that are not delegates and 422 for invalid ids.", async () => {
  for (const id of [alice.address, stranger.address, "unknown"]) {
    expect((await fixture.get(`/api/delegates/${id}`)).json().message).toBe("Delegate not found");
  }
  expect((await fixture.get("/api/delegates/!!%3F")).statusCode).toBe(422);
});

describe("GET /delegates/{id}/blocks", () => {
  const heightsOf = (response: { json(): unknown }) => rowsOf(response).map(({ height }) => height);
  const third = present(chain.blocks[2], "the third block").header;

  test.each([
    [`${unik.bob}/blocks`, [4, 3]],
    [`${bob.address}/blocks?orderBy=height:asc`, [3, 4]],
    [`${bob.publicKey}/blocks?orderBy=totalFee:asc&limit=1`, [3]],
    ["genesis_1/blocks", [2]],
    [`${dave.address}/blocks`, []],
    [`${unik.bob}/blocks?height=3`, [3]],
    [`${unik.bob}/blocks?height=2`, []],
    [`${unik.bob}/blocks?timestamp=24`, [4]],
    [`${unik.bob}/blocks?numberOfTransactions=4`, [3]],
    [`${unik.bob}/blocks?generatorPublicKey=${bob.publicKey}&limit=1`, [4]],
    [`${unik.bob}/blocks?generatorPublicKey=${carol.publicKey}`, []],
    [`${unik.bob}/blocks?payloadHash=${third.payloadHash}`, [3]],
    [`${unik.bob}/blocks?payloadLength=${third.payloadLength}`, [3]],
    [`${unik.bob}/blocks?blockSignature=${third.blockSignature}`, [3]],
    [`${unik.bob}/blocks?blockSignature=00`, []],
    [`${unik.bob}/blocks?payloadHash=00`, []],
  ])("GET /delegates/{id}/blocks lists blocks: %s.", async (path, heights) => {
    expect(heightsOf(await fixture.get(`/api/delegates/${path}`))).toEqual(heights);
  });

  test("GET /delegates/{id}/blocks shows blocks in either form.", async () => {
    const [shown] = rowsOf(await fixture.get("/api/v2/delegates/genesis_1/blocks"));
    expect(shown).toMatchObject({ generator: { username: "genesis_1" }, confirmations: 2 });
    const [raw] = rowsOf(await fixture.get("/api/delegates/genesis_1/blocks?transform=false"));
    expect(raw).toMatchObject({ generatorPublicKey: carol.publicKey });
  });

  test("GET /delegates/{id}/blocks returns 404 for unknown delegates and 422 for unknown parameters.", async () => {
    for (const id of [alice.address, "unknown"]) {
      const response = await fixture.get(`/api/delegates/${id}/blocks`);
      expect(response.json()).toMatchObject({ statusCode: 404, message: "Delegate not found" });
    }
    for (const parameters of ["foo=1", "orderBy=foo:asc", "payloadHash=x", "blockSignature=x"]) {
      expect((await fixture.get(`/api/delegates/${unik.bob}/blocks?${parameters}`)).statusCode).toBe(422);
    }
  });
});

describe("GET /delegates/{id}/voters", () => {
  test.each([
    [`${unik.bob}/voters`, [alice, bob]],
    [`${bob.address}/voters?orderBy=balance:asc`, [bob, alice]],
    [`${bob.publicKey}/voters?limit=1&page=2`, [bob]],
    [`${unik.bob}/voters?address=${alice.address}`, [alice]],
    [`${unik.bob}/voters?vote=${bob.publicKey}&limit=1`, [alice]],
    [`${unik.bob}/voters?vote=${carol.publicKey}`, []],
    [`${unik.bob}/voters?transform=false&limit=1`, [alice]],
    [`${unik.bob}/voters?username=${unik.bob}`, [bob]],
    ["genesis_1/voters", []],
  ])("GET /delegates/{id}/voters lists wallets: %s.", async (path, voters) => {
    const response = await fixture.get(`/api/delegates/${path}`);
    expect(rowsOf(response).map(({ address }) => address)).toEqual(voters.map(({ address }) => address));
  });

  test("GET /delegates/{id}/voters shows wallets in base encoding.", async () => {
    const response = await fixture.get(`/api/delegates/${unik.bob}/voters?orderBy=address:asc`);
    for (const row of rowsOf(response)) expect(row).toMatchObject({ balance: expect.any(String) });
    expect(response.json()).not.toHaveProperty("chainmeta");
  });

  test("GET /delegates/{id}/voters returns 404 for unknown delegates and 422 for unknown parameters.", async () => {
    expect((await fixture.get("/api/delegates/unknown/voters")).json().message).toBe("Delegate not found");
    for (const parameters of ["foo=1", "orderBy=rank:asc", "transform=x", "balance=-1"]) {
      expect((await fixture.get(`/api/delegates/${unik.bob}/voters?${parameters}`)).statusCode).toBe(422);
    }
  });
});

describe("POST /delegates/search", () => {
  test.each([
    [{}, "", ["bob", "genesis_1", unik.dave]],
    [{}, "?orderBy=producedBlocks:asc&limit=1", [unik.dave]],
    [{}, "?orderBy=-1&limit=1&page=2", ["bob"]],
    [{ address: carol.address }, "", ["genesis_1"]],
    [{ publicKey: bob.publicKey }, "", ["bob"]],
    [{ username: "genesis" }, "", ["genesis_1"]],
    [{ name: "Bob" }, "", ["bob"]],
    [{ name: "no-such name" }, "", []],
    [{ usernames: ["genesis_1", unik.bob] }, "", ["bob", "genesis_1"]],
    [{ usernames: ["genesis"] }, "", []],
    [{ approval: { from: 66.66 } }, "", ["bob"]],
    [{ approval: { from: 66.67 } }, "", []],
    // Two decimals count.
    [{ approval: { from: 66.664, to: "66.656" } }, "", ["bob"]],
    [{ approval: { from: "0", to: 50 } }, "", ["genesis_1", unik.dave]],
    [{ forgedFees: { from: 1 } }, "", ["bob"]],
    [{ forgedRewards: { from: 200_000_000, to: 400_000_000 } }, "", ["bob", "genesis_1"]],
    [{ forgedTotal: { to: 200_000_000 } }, "", ["genesis_1", unik.dave]],
    [{ producedBlocks: { from: 1, to: "1" } }, "", ["genesis_1"]],
    [{ voteBalance: { from: 100 } }, "", ["bob", unik.dave]],
    [{ voteBalance: { from: 100 }, producedBlocks: { from: 1 } }, "", ["bob"]],
    [{ producedBlocks: { from: 1 }, username: "genesis" }, "", ["genesis_1"]],
  ])("POST /delegates/search finds %j%s.", async (body, query, names) => {
    expect(namesOf(await fixture.post(`/api/delegates/search${query}`, body))).toEqual(names);
  });

  test.each([
    [{ type: "individual" }, ""],
    [{ usernames: ["a", "a"] }, ""],
    [{ usernames: [] }, ""],
    // As many as there are active delegates.
    [{ usernames: ["a", "b", "c", "d"] }, ""],
    [{ approval: { from: 101 } }, ""],
    [{ approval: 5 }, ""],
    [{ producedBlocks: 3 }, ""],
    [{ username: "A B" }, ""],
    [{ orderBy: "rank:asc" }, ""],
    [{}, "?orderBy=foo:asc"],
    [{}, "?type=resigned"],
  ])("POST /delegates/search refuses %j%s.", async (body, query) => {
    expect((await fixture.post(`/api/delegates/search${query}`, body)).statusCode).toBe(422);
  });
});
