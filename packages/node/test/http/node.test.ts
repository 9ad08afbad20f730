import { afterAll, expect, test } from "vitest";
import { chain, heads } from "../../test-support/http/chain.ts";
import { identity, NOW_MS, openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

test("The node returns its status.", async () => {
  const data = { synced: true, now: 4, blocksCount: 0, timestamp: 30 };
  expect((await fixture.get("/api/v2/node/status?foo=1")).json()).toEqual({ data });
  expect((await fixture.get("/api/node/syncing")).json()).toEqual({
    data: { syncing: false, blocks: 0, height: 4, id: heads.head.id },
  });
});

test("The node returns its progress while it catches up.", async () => {
  const progress = { target: 100, percent: 4, blocksPerSecond: 10, secondsLeft: 10 };
  const catching = openFixture();
  catching.gateway.status = async () => ({ synced: false, now: 4, blocksCount: 96, timestamp: 30, progress });
  expect((await catching.get("/api/node/status")).json().data).toMatchObject({ synced: false, progress });
  expect((await catching.get("/api/node/syncing")).json().data).toMatchObject({ syncing: true, progress });
  await catching.close();
});

test("The node returns its last unchecked block, and when a block can follow a head in the future.", async () => {
  const assumeValid = { height: 100, id: "ab".repeat(32), uncheckedFrom: 2 };
  const assuming = openFixture();
  assuming.gateway.status = async () => ({
    ...{ synced: false, now: 4, blocksCount: 96, timestamp: 30 },
    assumeValid,
    futureHead: "the head is in the future",
  });
  expect((await assuming.get("/api/node/status")).json().data).toMatchObject({
    assumeValid,
    futureHead: "the head is in the future",
  });
  await assuming.close();
});

test("The node returns its configuration with the parameters in force.", async () => {
  const { data } = (await fixture.get("/api/node/configuration")).json();
  expect(data).toMatchObject({
    core: { version: "5.7.2" },
    nethash: chain.network.description.nethash,
    slip44: 1,
    wif: 218,
    token: "dunik",
    symbol: "DUNIK",
    version: 30,
    ports: identity.ports,
    constants: { height: 2, aip11: true, blocktime: 8, reward: 200000000, activeDelegates: 3 },
    transactionPool: {
      dynamicFees: { enabled: true, minFeePool: 1000, minFeeBroadcast: 2000, addonBytes: { transfer: 100 } },
    },
  });
});

test("The node reports static fees.", async () => {
  const feePolicy = { ...identity.feePolicy, dynamic: false };
  const other = openFixture({}, { identity: { ...identity, feePolicy } });
  const { data } = (await other.get("/api/node/configuration")).json();
  expect(data.transactionPool).toEqual({ dynamicFees: { enabled: false } });
  await other.close();
});

test("The node returns the complete preset of the network.", async () => {
  const response = await fixture.get("/api/node/configuration/crypto");
  expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
  const { data } = response.json();
  expect(data.network).toEqual(JSON.parse(JSON.stringify(chain.network.description)));
  expect(data.milestones).toHaveLength(3);
  expect(data.milestones[1]).toMatchObject({ height: 2, aip11: true, reward: 200000000 });
  expect(data.exceptions).toEqual(chain.network.exceptions);
  expect(data.genesisBlock.id).toBe(heads.genesis.id);
  expect(data.genesisBlock.transactions[0]).toMatchObject({ typeGroup: 1, type: 0 });
});

test("The node computes fees from the last transactions of every active type.", async () => {
  const { meta, data } = (await fixture.get("/api/node/fees?days=undefined")).json();
  expect(meta).toEqual({});
  expect(data[1].transfer).toEqual({ avg: "15000000", max: "50000000", min: "0", sum: "60000000" });
  expect(data[1].htlcLock).toEqual({ avg: "0", max: "0", min: "0", sum: "0" });
  expect(data[1]).not.toHaveProperty("delegateRegistration");
  expect(data[2]).toEqual({
    entityRegistration: { avg: "5000000000", max: "5000000000", min: "5000000000", sum: "0" },
    entityResignation: { avg: "500000000", max: "500000000", min: "500000000", sum: "0" },
    entityUpdate: { avg: "500000000", max: "500000000", min: "500000000", sum: "0" },
  });
});

test("The node computes fees of some days from all transactions whose fee suffices for broadcast.", async () => {
  const { meta, data } = (await fixture.get("/api/node/fees?days=30")).json();
  expect(meta).toEqual({ days: 30 });
  expect(data[1].transfer).toEqual({ avg: "30000000", max: "50000000", min: "10000000", sum: "60000000" });
  expect(data[1]).not.toHaveProperty("htlcLock");
  const later = openFixture({}, { nowMs: () => NOW_MS + 20_000 });
  const { data: ofOneDay } = (await later.get("/api/node/fees?days=1")).json();
  expect(ofOneDay[1]).toEqual({
    transfer: { avg: "50000000", max: "50000000", min: "50000000", sum: "50000000" },
  });
  await later.close();
});

test.each(["days=0", "days=31", "days=1.5", "foo=1"])(
  "The node refuses fees with %s.",
  async (parameters) => {
    expect((await fixture.get(`/api/node/fees?${parameters}`)).statusCode).toBe(422);
  },
);
