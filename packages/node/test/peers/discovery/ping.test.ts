/** Asking a peer for its status, and what that decides before its chain is looked at (p2p.md 10.4 and 10.5). */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPing, type Ping } from "../../../src/peers/discovery/ping.ts";
import { createPeerTable, type PeerTable } from "../../../src/peers/table/peer-table.ts";
import { peerView } from "../../../src/peers/table/view.ts";
import type { PeerClient } from "../../../src/peers/transport/client.ts";
import { decodeValue, encodeValue } from "../../../src/peers/wire/codec.ts";
import { readResult } from "../../../src/peers/wire/replies/received.ts";
import type { Status } from "../../../src/peers/wire/replies/results.ts";
import {
  network,
  now,
  openTestChain,
  rounds,
  slots,
  statusOn,
  type TestChain,
  verifier,
} from "../../../test-support/peers/chains.ts";

const IP = "203.0.113.7";
const OWN = "this process";

let own: TestChain;
let peerTable: PeerTable;
let asked: number;
/** What the peer says. */
let status: Status;
let request: () => Promise<Status>;
let ping: Ping;

beforeEach(() => {
  own = openTestChain();
  peerTable = createPeerTable(() => {});
  asked = 0;
  const { head } = own.chain;
  status = statusOn(own.chain);
  request = async () => status;
  ping = createPing({
    processId: OWN,
    network,
    slots,
    rounds,
    state: own.chain.state,
    verify: verifier.verify,
    now,
    head,
    header: own.chain.blocks.header,
    peerTable,
    request: (async (_ip, event) => {
      asked++;
      return readResult(event, decodeValue(encodeValue(await request())), network);
    }) as PeerClient["request"],
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await own.close();
});

const forced = { isForced: true };
const withConfig = (config: Partial<Status["config"]>): Status => ({
  ...status,
  config: { ...status.config, ...config },
});

test("a peer of the network on our chain is known afterwards", async () => {
  await ping(IP, forced);
  expect(peerTable.get(IP)).toMatchObject({
    height: 1,
    verification: { myHeight: 1, hisHeight: 1, highestCommonHeight: 1 },
  });
});

test.each<[string, () => Status, string]>([
  [
    "of another network",
    () => withConfig({ network: { ...status.config.network, nethash: "00".repeat(32) } }),
    "it is a node of another network (testworld)",
  ],
  ["whose version is too old", () => withConfig({ version: "4.9.9" }), "its version 4.9.9 is none of ^5.0.0"],
  ["whose version is none", () => withConfig({ version: "latest" }), "its version latest is none of ^5.0.0"],
  [
    "that is this node itself, at an address that it does not know",
    () => withConfig({ uniknode: { protocol: 1, processId: OWN } }),
    "it is this node itself",
  ],
  [
    "that shows another block than it says to have",
    () => ({ ...status, state: { ...status.state, height: 2 } }),
    "it does not send its head",
  ],
])("a node %s is none", async (_, told, message) => {
  status = told();
  await expect(ping(IP, forced)).rejects.toThrow(message);
  expect(peerTable.get(IP)).toBeUndefined();
});

test("a peer is asked again after two minutes, or when somebody must know", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const unforced = { isForced: false };
  await ping(IP, unforced);
  vi.advanceTimersByTime(119_999);
  await ping(IP, unforced);
  expect(asked).toBe(1);
  vi.advanceTimersByTime(1);
  await ping(IP, unforced);
  expect(asked).toBe(2);
  await ping(IP, forced);
  expect(asked).toBe(3);
});

test("whoever asks for a peer that is being asked waits for the same answer", async () => {
  const { promise, resolve } = Promise.withResolvers<Status>();
  request = () => promise;
  const pings = [ping(IP, forced), ping(IP, forced)];
  resolve(status);
  await Promise.all(pings);
  expect(asked).toBe(1);
});

test("others are told when a peer was verified, and how the chains compared", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  await ping(IP, forced);
  vi.advanceTimersByTime(5_000);
  const view = peerView(peerTable.get(IP)!, { port: 4001, network, nowMs: 1_700_000_005_000 });
  expect(view).toMatchObject({
    ip: IP,
    port: 4001,
    lastPingedMs: 1_700_000_000_000,
    verification: { myHeight: 1, hisHeight: 1, highestCommonHeight: 1 },
  });
});

test("services whose ports were tried stay known", async () => {
  await ping(IP, forced);
  peerTable.setPorts(IP, { "@arkecosystem/core-api": -1 });
  await ping(IP, forced);
  expect(peerTable.get(IP)?.ports).toEqual({ "@arkecosystem/core-api": -1 });
});
