/** Ping: the status of a peer, and the checks before its chain is verified (p2p.md 10.4 and 10.5). */
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Candidates, createPing, type Ping } from "../../../src/peers/discovery/candidates.ts";
import { PeerTable, peerView } from "../../../src/peers/peer-table.ts";
import type { PeerClient } from "../../../src/peers/transport/client.ts";
import { decodeValue, encodeValue } from "../../../src/peers/wire/codec.ts";
import type { Status } from "../../../src/peers/wire/events.ts";
import { readResult } from "../../../src/peers/wire/replies.ts";
import { present } from "../../../src/platform/present.ts";
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
let requested: number;
/** Addresses that are banned. */
let refused: Set<string>;
/** Status of the peer. */
let status: Status;
let request: () => Promise<Status>;
let ping: Ping;
let candidates: Candidates;

beforeEach(() => {
  own = openTestChain();
  peerTable = new PeerTable(() => {});
  requested = 0;
  refused = new Set();
  const { head } = own.chain;
  status = statusOn(own.chain);
  request = async () => status;
  ping = createPing({
    processId: OWN,
    network,
    slots,
    rounds,
    state: own.chain.state,
    verify: (checks) => verifier.verify(checks),
    now,
    head,
    header: (height) => own.chain.blocks.header(height),
    peerTable,
    isRefused: (ip, since) => refused.has(ip) || candidates.isSuspendedSince(ip, since),
    request: (async (_ip, event) => {
      requested++;
      return readResult(event, decodeValue(encodeValue(await request())), network);
    }) as PeerClient["request"],
  });
  candidates = new Candidates(
    { isDisabled: false, maxPeersPerSubnet: 5, loopback: undefined },
    { peerTable, ping, isBanned: () => false, disconnect: () => {}, logger: pino({ enabled: false }) },
  );
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

test("A peer of the network on our chain is put into the peer table.", async () => {
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
  ["whose version is too old", () => withConfig({ version: "4.9.9" }), "its version 4.9.9 is not in ^5.0.0"],
  [
    "whose version is invalid",
    () => withConfig({ version: "latest" }),
    "its version latest is not in ^5.0.0",
  ],
  [
    "that is this node itself, at an address that it does not know",
    () => withConfig({ uniknode: { protocol: 1, processId: OWN } }),
    "it is this node itself",
  ],
  [
    "that sends another block than it claims",
    () => ({ ...status, state: { ...status.state, height: 2 } }),
    "it does not send its head",
  ],
])("A node %s does not become a peer.", async (_, makeStatus, message) => {
  status = makeStatus();
  await expect(ping(IP, forced)).rejects.toThrow(message);
  expect(peerTable.get(IP)).toBeUndefined();
});

test("A node that is banned while its ping is under way does not become a peer.", async () => {
  const { promise, resolve } = Promise.withResolvers<Status>();
  request = () => promise;
  const pinged = ping(IP, forced);
  refused.add(IP);
  resolve(status);
  await expect(pinged).rejects.toThrow("it was refused in the meantime");
  expect(peerTable.get(IP)).toBeUndefined();
});

test("A peer that is dropped while a ping is under way does not become a peer by it.", async () => {
  await ping(IP, forced);
  const { promise, resolve } = Promise.withResolvers<Status>();
  request = () => promise;
  const pinged = ping(IP, forced);
  peerTable.remove(IP);
  resolve(status);
  await expect(pinged).rejects.toThrow("it was dropped in the meantime");
  expect(peerTable.get(IP)).toBeUndefined();
});

test.each([false, true])(
  "A node that is suspended while it is dialled does not become a peer by it, as a seed: %s.",
  async (isSeed) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { promise, resolve } = Promise.withResolvers<Status>();
    request = () => promise;
    const dialled = candidates.dial(IP, { isSeed });
    vi.advanceTimersByTime(1);
    candidates.suspend(IP);
    resolve(status);
    expect(await dialled).toBe(false);
    expect(peerTable.get(IP)).toBeUndefined();
    // A seed is exempt from the pause that follows.
    expect(await candidates.dial(IP, { isSeed })).toBe(isSeed);
  },
);

test("A peer is pinged again after two minutes, or when forced.", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const unforced = { isForced: false };
  await ping(IP, unforced);
  vi.advanceTimersByTime(119_999);
  await ping(IP, unforced);
  expect(requested).toBe(1);
  vi.advanceTimersByTime(1);
  await ping(IP, unforced);
  expect(requested).toBe(2);
  await ping(IP, forced);
  expect(requested).toBe(3);
});

test("Concurrent pings of a peer share one request.", async () => {
  const { promise, resolve } = Promise.withResolvers<Status>();
  request = () => promise;
  const pings = [ping(IP, forced), ping(IP, forced)];
  resolve(status);
  await Promise.all(pings);
  expect(requested).toBe(1);
});

test("The view of a peer has the time and the result of its verification.", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  await ping(IP, forced);
  vi.advanceTimersByTime(5_000);
  const view = peerView(present(peerTable.get(IP)), { port: 4001, network, nowMs: 1_700_000_005_000 });
  expect(view).toMatchObject({
    ip: IP,
    port: 4001,
    lastPingedMs: 1_700_000_000_000,
  });
  // The schema of the event has no other members.
  expect(view.verification).toEqual({ myHeight: 1, hisHeight: 1, highestCommonHeight: 1 });
});

test("Results of probed ports are kept over a ping.", async () => {
  await ping(IP, forced);
  peerTable.update(IP, { ports: { "@arkecosystem/core-api": -1 } });
  await ping(IP, forced);
  expect(peerTable.get(IP)?.ports).toEqual({ "@arkecosystem/core-api": -1 });
});
