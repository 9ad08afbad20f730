import { createNetwork, dalinet } from "@uniknode/protocol";
import { afterAll, expect, test } from "vitest";
import { alice, BOB_VOTES, bob, carol, dave, heads, stranger, unik } from "./chain.ts";
import { openFixture, rowsOf } from "./fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const namesOf = (answer: { json(): unknown }) => rowsOf(answer).map(({ unikname }) => unikname);

test("lists all delegates by rank, resigned ones last", async () => {
  for (const prefix of ["/api", "/api/v2"]) {
    const answer = await fixture.get(`${prefix}/delegates`);
    expect(namesOf(answer)).toEqual(["bob", "genesis_1", unik.dave]);
    expect(answer.json().meta).toMatchObject({ totalCount: 3, self: `${prefix}/delegates?page=1&limit=100` });
  }
});

test("shows a delegate, whose weighted votes count against those of its type", async () => {
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

test("compares all votes with the supply while types do not compete", async () => {
  const [first, second] = dalinet.milestones;
  const network = createNetwork({ ...dalinet, milestones: [first!, second!] });
  const old = openFixture({}, { network });
  const { data } = (await old.get(`/api/delegates/${unik.bob}`)).json();
  expect(data).toMatchObject({ votes: `${BOB_VOTES}`, production: { approval: 10 } });
  await old.close();
});

test("shows what a delegate has not as absent, and a delegate without type as genesis", async () => {
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
  [`vote=${bob.publicKey}`, ["bob"]],
  [`address=${carol.address}`, ["genesis_1"]],
  [`publicKey=${carol.publicKey}`, ["genesis_1"]],
  ["balance=11", ["genesis_1"]],
  ["voteBalance=200", ["bob"]],
  ["producedBlocks=1", ["genesis_1"]],
  [`secondPublicKey=${carol.publicKey}`, []],
  ["offset=1&limit=1", ["genesis_1"]],
  ["page=2&limit=2", [unik.dave]],
])("lists delegates with %s", async (parameters, names) => {
  expect(namesOf(await fixture.get(`/api/delegates?${parameters}`))).toEqual(names);
});

test.each([
  "orderBy=foo:asc",
  "orderBy=rank:up",
  "orderBy=1.5",
  "limit=101",
  "type=x",
  "username=A%20B",
  "foo=1",
])("refuses %s", async (parameters) => {
  expect((await fixture.get(`/api/delegates?${parameters}`)).statusCode).toBe(422);
});

test("answers 404 for wallets that are no delegates and 422 for what is no wallet", async () => {
  for (const id of [alice.address, stranger.address, "nobody"]) {
    expect((await fixture.get(`/api/delegates/${id}`)).json().message).toBe("Delegate not found");
  }
  expect((await fixture.get("/api/delegates/!!%3F")).statusCode).toBe(422);
});
