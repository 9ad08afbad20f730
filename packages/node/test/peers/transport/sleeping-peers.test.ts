/**
 * Requests to stopped peers: the process or machine is suspended, and later reads what has arrived
 * (p2p.md 12.3, 15).
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PeerError } from "../../../src/peers/transport/calls.ts";
import { PeerClient } from "../../../src/peers/transport/client.ts";
import { present } from "../../../src/platform/present.ts";
import { network } from "./server.ts";
import { type Sleeper, startSleeper } from "./sleeper.ts";

const LIMITS = { timeoutMs: 5_000, maxBytes: 102_400 };
const closers: (() => unknown)[] = [];
// The clock and the timers of the client stand still until a test lets time pass: a busy machine causes no timeout.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closers.splice(0).reverse()) await close();
});

type Setting = { readonly host?: string; readonly lateMs?: number; readonly late?: string[] };

async function sleeper({ host, late, ...times }: Setting = {}): Promise<[Sleeper, PeerClient]> {
  const peer = await startSleeper(host);
  const client = new PeerClient(
    { port: peer.port, localAddress: undefined, ...times },
    { network, onHeight: () => {}, onLate: (address) => late?.push(address) },
  );
  closers.push(() => client.close(), peer.close);
  return [peer, client];
}

/** Lets all that was sent arrive. */
async function arrive(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}
/** Lets time pass, after all that was sent has arrived. */
async function pass(ms: number): Promise<void> {
  await arrive();
  await vi.advanceTimersByTimeAsync(ms);
  await arrive();
}
/** Lets time pass until a promise is settled. */
async function inTime<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  while (!isSettled) await pass(50);
  return promise;
}
const requestPeers = (client: PeerClient, timeoutMs = LIMITS.timeoutMs) =>
  client.request("127.0.0.1", "p2p.peer.getPeers", {}, { ...LIMITS, timeoutMs });
const codeOf = (requested: Promise<unknown>) =>
  requested.then(
    () => "replied",
    (error) => {
      expect(error).toBeInstanceOf(PeerError);
      return (error as PeerError).code;
    },
  );

/** Requests peers until the attempt to connect has timed out. */
async function failToConnect(peer: Sleeper, client: PeerClient): Promise<void> {
  const code = codeOf(requestPeers(client));
  await expect.poll(() => peer.connections).toBe(1);
  expect(await inTime(code)).toBe("PEER_UNREACHABLE");
}

describe("a peer that accepts connections and does not reply", () => {
  test("A peer that does not reply receives no second connection, and the first one is used when it resumes.", async () => {
    const [peer, client] = await sleeper();
    await failToConnect(peer, client);
    client.disconnect("127.0.0.1");
    const status = codeOf(requestPeers(client));
    await pass(500);
    peer.wake();
    expect(await status).toBe("replied");
    expect(peer.connections).toBe(1);
  });

  test("A peer that does not reply is connected when it resumes, and the next request uses the connection.", async () => {
    const late: string[] = [];
    const [peer, client] = await sleeper({ late });
    await failToConnect(peer, client);
    peer.wake();
    await expect.poll(() => late).toEqual(["127.0.0.1"]);
    expect(peer.readAt).toEqual([]);
    expect(await codeOf(requestPeers(client))).toBe("replied");
    expect([peer.connections, late.length]).toEqual([1, 1]);
    client.disconnect("127.0.0.1");
    await expect.poll(() => peer.codes).toEqual([1000]);
  });

  test("A peer that does not reply is disconnected if no request follows when it resumes.", async () => {
    const late: string[] = [];
    const [peer, client] = await sleeper({ lateMs: 50, late });
    await failToConnect(peer, client);
    peer.wake();
    await expect.poll(() => late.length).toBe(1);
    await pass(50);
    await expect.poll(() => peer.codes).toEqual([1000]);
    expect(await codeOf(requestPeers(client))).toBe("replied");
    await pass(200);
    expect(peer.codes).toEqual([1000]);
  });

  test("A peer that does not reply is one of at most a hundred.", async () => {
    const late: string[] = [];
    const [peer, client] = await sleeper({ host: "0.0.0.0", lateMs: 50, late });
    const addresses = Array.from({ length: 110 }, (_, index) => `127.0.1.${index + 1}`);
    const codes = addresses.map((address) =>
      codeOf(client.request(address, "p2p.peer.getPeers", {}, LIMITS)),
    );
    await expect.poll(() => peer.connections).toBe(addresses.length);
    expect(new Set(await inTime(Promise.all(codes)))).toEqual(new Set(["PEER_UNREACHABLE"]));
    peer.wake();
    // The others have ended before their handshake.
    await expect.poll(() => late.length).toBe(100);
    await pass(50);
    await expect.poll(() => peer.codes.filter((code) => code === 1000).length).toBe(100);
  });

  test("A peer that does not reply does not delay the end of the client.", async () => {
    const [peer, client] = await sleeper();
    void requestPeers(client).catch(() => {});
    await expect.poll(() => peer.sockets.size).toBe(1);
    await client.close();
    peer.wake();
    await expect.poll(() => peer.sockets.size).toBe(0);
  });
});

/** Time between the last two requests that a peer has read. */
const lastGapMs = ({ readAt }: Sleeper) => present(readAt.at(-1)) - present(readAt.at(-2));

describe("a peer that is suspended while it is connected", () => {
  async function connected(): Promise<[Sleeper, PeerClient]> {
    const [peer, client] = await sleeper();
    peer.wake();
    expect(await requestPeers(client)).toEqual([]);
    await pass(1_500);
    peer.sleep();
    return [peer, client];
  }

  test("A suspended peer reads at once no more requests than its rate limit permits.", async () => {
    const [peer, client] = await connected();
    const requests = [codeOf(requestPeers(client)), codeOf(requestPeers(client))];
    await pass(2_000);
    peer.wake();
    expect(await inTime(Promise.all(requests))).toEqual(["replied", "replied"]);
    expect(lastGapMs(peer)).toBeGreaterThan(1_000);
  });

  test("A suspended peer reads the requests of an ended connection before those of the next one.", async () => {
    const [peer, client] = await connected();
    expect(await inTime(codeOf(requestPeers(client, 50)))).toBe("PEER_TIMEOUT");
    client.disconnect("127.0.0.1");
    await pass(2_000);
    const next = codeOf(requestPeers(client));
    await pass(200);
    peer.wake();
    expect(await inTime(next)).toBe("replied");
    expect(lastGapMs(peer)).toBeGreaterThan(1_000);
  });

  test("A suspended peer does not keep a request waiting that its ended connection sent.", async () => {
    const [peer, client] = await connected();
    const late = codeOf(requestPeers(client, 50));
    const waiting = codeOf(requestPeers(client));
    expect(await inTime(late)).toBe("PEER_TIMEOUT");
    client.disconnect("127.0.0.1");
    expect(await waiting).toBe("PEER_GONE");
    peer.wake();
    expect(await inTime(codeOf(requestPeers(client)))).toBe("replied");
  });
});

test("A connection ends with its client even if the peer does not close it.", async () => {
  const [peer, client] = await sleeper();
  peer.wake();
  expect(await requestPeers(client)).toEqual([]);
  for (const socket of peer.sockets) socket.pause();
  await inTime(client.close());
});

test("A request that waits for a rate limit keeps the only connection of its address.", async () => {
  const [peer, client] = await sleeper();
  peer.wake();
  expect(await requestPeers(client)).toEqual([]);
  for (const socket of peer.sockets) socket.destroy();
  await arrive();
  const waiting = codeOf(requestPeers(client, 25_000));
  await expect.poll(() => peer.sockets.size).toBe(1);
  // Until the end of the handshake.
  await arrive();
  const others = Array.from({ length: 2_010 }, (_, index) => `127.1.${index >> 8}.${index & 255}`);
  await Promise.all(
    others.map((address) => client.request(address, "p2p.peer.getPeers", {}, LIMITS).catch(() => {})),
  );
  expect(await inTime(waiting)).toBe("replied");
  expect(peer.sockets.size).toBe(1);
  client.disconnect("127.0.0.1");
  await expect.poll(() => peer.sockets.size).toBe(0);
});
