/**
 * Requests to stopped peers: the process or machine is suspended, and later reads what has arrived
 * (p2p.md 12.3, 15).
 */
import { afterEach, describe, expect, test } from "vitest";
import { PeerError } from "../../../src/peers/transport/calls.ts";
import { PeerClient } from "../../../src/peers/transport/client.ts";
import { present } from "../../../src/platform/present.ts";
import { network } from "./server.ts";
import { type Sleeper, startSleeper } from "./sleeper.ts";

const LIMITS = { timeoutMs: 5_000, maxBytes: 102_400 };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Setting = { readonly host?: string; readonly lateMs?: number; readonly late?: string[] };

async function sleeper({ host, late, ...times }: Setting = {}): Promise<[Sleeper, PeerClient]> {
  const peer = await startSleeper(host);
  const client = new PeerClient(
    { port: peer.port, localAddress: undefined, ...times },
    { network, onHeight: () => {}, onLate: (address) => late?.push(address) },
  );
  closers.push(peer.close, () => client.close());
  return [peer, client];
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
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

describe("a peer that accepts connections and does not reply", () => {
  test("A peer that does not reply receives no second connection, and the first one is used when it resumes.", async () => {
    const [peer, client] = await sleeper();
    expect(await codeOf(requestPeers(client))).toBe("PEER_UNREACHABLE");
    client.disconnect("127.0.0.1");
    const status = codeOf(requestPeers(client));
    await pause(500);
    peer.wake();
    expect(await status).toBe("replied");
    expect(peer.connections).toBe(1);
  });

  test("A peer that does not reply is connected when it resumes, and the next request uses the connection.", async () => {
    const late: string[] = [];
    const [peer, client] = await sleeper({ late });
    expect(await codeOf(requestPeers(client))).toBe("PEER_UNREACHABLE");
    peer.wake();
    await expect.poll(() => late).toEqual(["127.0.0.1"]);
    expect(peer.readAt).toEqual([]);
    expect(await codeOf(requestPeers(client))).toBe("replied");
    expect([peer.connections, late.length]).toEqual([1, 1]);
    client.disconnect("127.0.0.1");
    await expect.poll(() => peer.codes).toEqual([1000]);
  });

  test("A peer that does not reply is disconnected if no request follows when it resumes.", async () => {
    const [peer, client] = await sleeper({ lateMs: 50 });
    expect(await codeOf(requestPeers(client))).toBe("PEER_UNREACHABLE");
    peer.wake();
    await expect.poll(() => peer.codes).toEqual([1000]);
    expect(await codeOf(requestPeers(client))).toBe("replied");
    await pause(200);
    expect(peer.codes).toEqual([1000]);
  });

  test("A peer that does not reply is one of at most a hundred.", async () => {
    const [peer, client] = await sleeper({ host: "0.0.0.0", lateMs: 50 });
    const addresses = Array.from({ length: 110 }, (_, index) => `127.0.1.${index + 1}`);
    const codes = addresses.map((address) =>
      codeOf(client.request(address, "p2p.peer.getPeers", {}, LIMITS)),
    );
    expect(new Set(await Promise.all(codes))).toEqual(new Set(["PEER_UNREACHABLE"]));
    peer.wake();
    // The others have ended before their handshake.
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
    await pause(1_500);
    peer.sleep();
    return [peer, client];
  }

  test("A suspended peer reads at once no more requests than its rate limit permits.", async () => {
    const [peer, client] = await connected();
    const requests = [codeOf(requestPeers(client)), codeOf(requestPeers(client))];
    await pause(2_000);
    peer.wake();
    expect(await Promise.all(requests)).toEqual(["replied", "replied"]);
    expect(lastGapMs(peer)).toBeGreaterThan(1_000);
  });

  test("A suspended peer reads the requests of an ended connection before those of the next one.", async () => {
    const [peer, client] = await connected();
    const late = requestPeers(client, 50);
    expect(await codeOf(late)).toBe("PEER_TIMEOUT");
    client.disconnect("127.0.0.1");
    await pause(2_000);
    const next = codeOf(requestPeers(client));
    await pause(200);
    peer.wake();
    expect(await next).toBe("replied");
    expect(lastGapMs(peer)).toBeGreaterThan(1_000);
  });

  test("A suspended peer does not keep a request waiting that its ended connection sent.", async () => {
    const [peer, client] = await connected();
    const late = requestPeers(client, 50);
    const waiting = codeOf(requestPeers(client));
    expect(await codeOf(late)).toBe("PEER_TIMEOUT");
    client.disconnect("127.0.0.1");
    expect(await waiting).toBe("PEER_GONE");
    peer.wake();
    expect(await codeOf(requestPeers(client))).toBe("replied");
  });
});

test("A connection ends with its client even if the peer does not close it.", async () => {
  const [peer, client] = await sleeper();
  peer.wake();
  expect(await requestPeers(client)).toEqual([]);
  for (const socket of peer.sockets) socket.pause();
  await client.close();
});

test("A request that waits for a rate limit keeps the only connection of its address.", async () => {
  const [peer, client] = await sleeper();
  peer.wake();
  expect(await requestPeers(client)).toEqual([]);
  for (const socket of peer.sockets) socket.destroy();
  await pause(200);
  const waiting = codeOf(requestPeers(client, 25_000));
  await expect.poll(() => peer.sockets.size).toBe(1);
  // Until the end of the handshake; the rate limit lasts longer than a second.
  await pause(200);
  const others = Array.from({ length: 2_010 }, (_, index) => `127.1.${index >> 8}.${index & 255}`);
  await Promise.all(
    others.map((address) => client.request(address, "p2p.peer.getPeers", {}, LIMITS).catch(() => {})),
  );
  expect(await waiting).toBe("replied");
  expect(peer.sockets.size).toBe(1);
  client.disconnect("127.0.0.1");
  await expect.poll(() => peer.sockets.size).toBe(0);
});
