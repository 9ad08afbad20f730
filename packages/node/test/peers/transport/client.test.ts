/** The client of the peers: requests, rate limits, and violations of the protocol (p2p.md 12.3, 16). */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { PeerError } from "../../../src/peers/transport/calls.ts";
import { PeerClient } from "../../../src/peers/transport/client.ts";
import { connectPeer } from "../../../src/peers/transport/connection.ts";
import { Unfinished } from "../../../src/peers/transport/memory-bounds.ts";
import type { PeerServer } from "../../../src/peers/transport/server.ts";
import { RequestThrottle } from "../../../src/peers/transport/throttle.ts";
import { present } from "../../../src/platform/present.ts";
import { type Steps, TimeSlices } from "../../../src/platform/threads/time-slices.ts";
import { network, startServer } from "./server.ts";

const LIMITS = { timeoutMs: 5_000, maxBytes: 102_400 };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const heights: [string, number][] = [];
function outgoingTo(port: number): PeerClient {
  heights.length = 0;
  const client = new PeerClient(
    { port, localAddress: undefined },
    { network, onHeight: (...call) => heights.push(call) },
  );
  closers.push(() => client.close());
  return client;
}

async function ours(handle: () => Promise<never>): Promise<[PeerClient, PeerServer]> {
  const { server, port } = await startServer({ handle });
  closers.push(() => server.close());
  return [outgoingTo(port), server];
}

/** A client of a server that performs the handshake and then behaves as the test needs. */
const theirs = async (onCall: OnCall): Promise<PeerClient> => outgoingTo(await listenTo(onCall));

type OnCall = (socket: WebSocket, callId: number) => void;

async function listenTo(onCall: OnCall): Promise<number> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", path: "/socketcluster/" });
  await once(server, "listening");
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    socket.on("message", (data) => {
      const { event, cid } = JSON.parse(String(data));
      if (event === "#handshake") socket.send('{"rid":1,"data":{"id":"x","pingTimeout":60000}}');
      else if (cid !== undefined) onCall(socket, cid);
    });
  });
  closers.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const requestPeers = (client: PeerClient) => client.request("127.0.0.1", "p2p.peer.getPeers", {}, LIMITS);
const codeOf = (requested: Promise<unknown>) =>
  requested.then(
    () => "replied",
    (error) => {
      expect(error).toBeInstanceOf(PeerError);
      return (error as PeerError).code;
    },
  );

describe("a request", () => {
  test("A request reads the result, and reports the height of the peer.", async () => {
    const [client] = await ours(async () => [{ ip: "203.0.113.7" }] as never);
    expect(await requestPeers(client)).toEqual([{ ip: "203.0.113.7" }]);
    expect(heights).toEqual([["127.0.0.1", 6]]);
  });

  test("A request dials again after the connection was lost.", async () => {
    let calls = 0;
    const client = await theirs((socket, rid) => {
      if (++calls === 1) socket.terminate();
      else socket.send(JSON.stringify({ rid, data: { data: [], headers: {} } }));
    });
    expect(await codeOf(requestPeers(client))).toBe("PEER_GONE");
    expect(await requestPeers(client)).toEqual([]);
  });

  test("A request fails if the peer does not listen.", async () => {
    expect(await codeOf(requestPeers(outgoingTo(1)))).toBe("PEER_UNREACHABLE");
  });

  test("A request to an address that is none fails, and leaves nothing that fails later.", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const timers = vi.getTimerCount();
    await expect(outgoingTo(1).request("fe80::1%eth0", "p2p.peer.getStatus", {}, LIMITS)).rejects.toThrow();
    expect(vi.getTimerCount()).toBe(timers);
  });

  test("A request fails without a reply in time.", async () => {
    const client = await theirs(() => {});
    const requested = client.request("127.0.0.1", "p2p.peer.getPeers", {}, { ...LIMITS, timeoutMs: 50 });
    expect(await codeOf(requested)).toBe("PEER_TIMEOUT");
  });

  test("A request fails in time while the peer has not replied to an earlier one that it counts.", async () => {
    const client = await theirs(() => {});
    const requestBlocks = () =>
      codeOf(
        client.request(
          "127.0.0.1",
          "p2p.peer.getBlocks",
          { lastBlockHeight: 1 },
          { ...LIMITS, timeoutMs: 50 },
        ),
      );
    expect(await Promise.all([requestBlocks(), requestBlocks()])).toEqual(["PEER_TIMEOUT", "PEER_TIMEOUT"]);
    expect(await requestBlocks()).toBe("PEER_TIMEOUT");
  });

  test("A request fails with the error of the peer.", async () => {
    const [client] = await ours(() => Promise.reject(new Error("no")));
    await expect(requestPeers(client)).rejects.toMatchObject({
      code: "PEER_REFUSED",
      message: "p2p.peer.getPeers responded with no",
    });
  });
});

describe("the largest replies of honest peers are read", () => {
  const header = {
    id: "ab".repeat(32),
    idHex: "ab".repeat(32),
    version: 0,
    timestamp: 48,
    height: 6,
    previousBlock: "cd".repeat(32),
    previousBlockHex: "cd".repeat(32),
    numberOfTransactions: 500,
    totalAmount: "0",
    totalFee: "0",
    reward: "200000000",
    payloadLength: 0,
    payloadHash: "ab".repeat(32),
    generatorPublicKey: `02${"ab".repeat(32)}`,
    blockSignature: "3044",
  };
  const sendTo = (data: unknown) =>
    theirs((socket, rid) => socket.send(JSON.stringify({ rid, data: { data, headers: {} } })));

  test("A reply can have 2,000 peers with several members.", async () => {
    const client = await sendTo(
      Array.from({ length: 2_000 }, () => ({
        ip: "203.0.113.7",
        port: 1,
        version: "5",
        height: 6,
        latency: 9,
      })),
    );
    const limits = { ...LIMITS, maxBytes: 400_000 };
    await expect(client.request("127.0.0.1", "p2p.peer.getPeers", {}, limits)).resolves.toHaveLength(2_000);
  });

  test("A reply can have 400 headers with all members.", async () => {
    const client = await sendTo(Array.from({ length: 400 }, () => header));
    const limits = { ...LIMITS, maxBytes: 409_600 };
    await expect(
      client.request("127.0.0.1", "p2p.peer.getBlocks", { lastBlockHeight: 5, headersOnly: true }, limits),
    ).resolves.toHaveLength(400);
  });

  test("A reply can have 400 blocks of 500 transactions each.", async () => {
    const transactions = Array.from({ length: 500 }, () => "ff".repeat(20));
    const client = await sendTo(Array.from({ length: 400 }, () => ({ ...header, transactions })));
    const limits = { timeoutMs: 20_000, maxBytes: 20_971_520 };
    await expect(
      client.request("127.0.0.1", "p2p.peer.getBlocks", { lastBlockHeight: 5 }, limits),
    ).resolves.toHaveLength(400);
  });

  test("A reply can have 2,000 packed blocks.", async () => {
    const blocks = Buffer.alloc(2_000 * 1_000);
    for (let at = 0; at < blocks.length; at += 1_000) blocks.writeUInt32LE(996, at);
    const client = await sendTo({ blocks: { base64: true, data: blocks.toString("base64") } });
    const limits = { ...LIMITS, maxBytes: 20_971_520 };
    await expect(
      client.request(
        "127.0.0.1",
        "uniknode.peer.getBlocks",
        { lastBlockHeight: 1, blockLimit: 2_000 },
        limits,
      ),
    ).resolves.toHaveLength(2_000);
  });
});

/** Holds the steps of all messages after the handshake. */
class HeldSlices extends TimeSlices {
  readonly held: Steps<unknown>[] = [];
  #isShaken = false;

  override run<T>(steps: Steps<T>, source?: string): Promise<T> {
    if (this.#isShaken) this.held.push(steps);
    else return super.run(steps, source);
    return new Promise(() => {});
  }

  hold(): void {
    this.#isShaken = true;
  }
}

test("The reading of a long reply stops when its connection has ended.", async () => {
  const data = Array.from({ length: 400_000 }, () => ({}));
  const port = await listenTo((socket, rid) =>
    socket.send(JSON.stringify({ rid, data: { data, headers: {} } })),
  );
  const slices = new HeldSlices({ sliceMs: 8 });
  const connection = await connectPeer({ address: "127.0.0.1", port, slices });
  slices.hold();
  const limits = { timeoutMs: 5_000, maxBytes: 20_971_520 };
  const called = codeOf(connection.call("p2p.peer.getBlocks", { lastBlockHeight: 1 }, limits));
  await expect.poll(() => slices.held).toHaveLength(1);
  const steps = present(slices.held[0]);
  expect(steps.next().done).toBe(false);
  expect(steps.next().done).toBe(false);
  connection.close();
  await connection.ended;
  expect(await called).toBe("PEER_GONE");
  expect(steps.next().done).toBe(true);
});

test("A connection ends when a reply has more than 64 frames.", async () => {
  const client = await theirs((socket) => {
    for (let count = 0; count < 65; count++) socket.send("x", { fin: false });
  });
  expect(await codeOf(requestPeers(client))).toBe("PEER_GONE");
});

test("The connection with the longest incomplete message ends when the incomplete messages of all are too long.", async () => {
  const lengths = [50_000, 80_000];
  const port = await listenTo((socket) => socket.send("x".repeat(lengths.shift() ?? 0), { fin: false }));
  const unfinished = new Unfinished({ maxTotalBytes: 100_000 });
  const connect = () => connectPeer({ address: "127.0.0.1", port, unfinished });
  const [first, second] = [await connect(), await connect()];
  closers.push(() => first.close());
  const waiting = codeOf(first.call("p2p.peer.getPeers", {}, LIMITS));
  await expect.poll(() => lengths).toHaveLength(1);
  expect(await codeOf(second.call("p2p.peer.getPeers", {}, LIMITS))).toBe("PEER_PROTOCOL");
  first.close();
  expect(await waiting).toBe("PEER_GONE");
});

describe("a peer that breaks the protocol is disconnected", () => {
  const reply = (rid: number, data: unknown) => JSON.stringify({ rid, data });
  test.each<[string, (socket: WebSocket, rid: number) => void]>([
    ["by a reply without headers", (socket, rid) => socket.send(reply(rid, { data: [] }))],
    ["by a reply longer than requested", (socket, rid) => socket.send(reply(rid, "x".repeat(300_000)))],
    ["by a ping of the WebSocket", (socket) => socket.ping()],
    ["by binary data", (socket) => socket.send(Buffer.alloc(20))],
    ["by text that is not a message", (socket) => socket.send("{{{{")],
    [
      "by too many messages",
      (socket) => {
        for (let count = 0; count < 40; count++) socket.send('{"event":"x"}');
      },
    ],
  ])("%s", async (_, offend) => {
    expect(await codeOf(requestPeers(await theirs(offend)))).toBe("PEER_PROTOCOL");
  });

  test("A reply with more values than a reply to its call can have disconnects the peer.", async () => {
    const many = { data: Array.from({ length: 100_000 }, () => ({})), headers: {} };
    const client = await theirs((socket, rid) => socket.send(reply(rid, many)));
    const limits = { timeoutMs: 5_000, maxBytes: 20_971_520 };
    const requests = [
      () =>
        client.request(
          "127.0.0.1",
          "uniknode.peer.getBlocks",
          { lastBlockHeight: 1, blockLimit: 10 },
          limits,
        ),
      () =>
        client.request("127.0.0.1", "p2p.peer.getBlocks", { lastBlockHeight: 1, headersOnly: true }, limits),
    ];
    for (const request of requests) {
      await expect(request()).rejects.toMatchObject({
        code: "PEER_PROTOCOL",
        cause: { code: "MESSAGE_COMPLEXITY" },
      });
    }
  });

  test("An invalid result only fails its request, and does not disconnect the peer.", async () => {
    const client = await theirs((socket, rid) => socket.send(reply(rid, { data: "none", headers: {} })));
    expect(await codeOf(requestPeers(client))).toBe("PEER_PROTOCOL");
  });
});

test("Requests that wait for a rate limit end with the client.", async () => {
  const [client] = await ours(async () => [] as never);
  expect(await requestPeers(client)).toEqual([]);
  const waiting = Array.from({ length: 30 }, () => codeOf(requestPeers(client)));
  await client.close();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["PEER_GONE"]));
});

test("An address of the other IP version is dialled from any of ours.", async () => {
  const { server, port } = await startServer({ handle: async () => [] as never });
  closers.push(() => server.close());
  const client = new PeerClient({ port, localAddress: "::1" }, { network, onHeight: () => {} });
  closers.push(() => client.close());
  await expect(requestPeers(client)).resolves.toEqual([]);
});

test("An address receives no more of an event than its rate limit.", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const throttle = new RequestThrottle();
  let acquired = 0;
  for (let request = 0; request < 3; request++)
    void throttle.acquire("p2p.peer.getStatus", LIMITS.timeoutMs).then(() => acquired++);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(acquired).toBe(2);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(acquired).toBe(3);
});

test("A second takes 20 messages with transactions for an address, at most a hundred wait, and a block waits for none.", async () => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const throttle = new RequestThrottle();
  let sent = 0;
  const turns = Array.from({ length: 121 }, () =>
    throttle.acquire("p2p.peer.postTransactions", LIMITS.timeoutMs).finally(() => sent++),
  );
  const settled = Promise.allSettled(turns);
  await throttle.acquire("p2p.peer.postBlock", LIMITS.timeoutMs);
  await throttle.acquire("p2p.peer.getStatus", LIMITS.timeoutMs);
  expect(sent).toBe(21);
  for (let second = 1; second <= 5; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent).toBe(21 + 20 * second);
  }
  const results = await settled;
  expect(results.map(({ status }) => status)).toEqual([...Array(120).fill("fulfilled"), "rejected"]);
  expect(results[120]).toMatchObject({ reason: { code: "PEER_BUSY", isRetryable: true } });
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(throttle.acquire("p2p.peer.postTransactions", LIMITS.timeoutMs)).resolves.toHaveProperty(
    "sent",
  );
});

test("The remaining capacity of an address is known.", async () => {
  const throttle = new RequestThrottle();
  const room = () => [1, 2, 3].filter((count) => throttle.hasCapacity("p2p.peer.postBlock", count));
  expect(room()).toEqual([1, 2]);
  await throttle.acquire("p2p.peer.postBlock", LIMITS.timeoutMs);
  expect(room()).toEqual([1]);
  await throttle.acquire("p2p.peer.postBlock", LIMITS.timeoutMs);
  expect(room()).toEqual([]);
  expect(throttle.hasCapacity("p2p.peer.postTransactions", 1)).toBe(true);
});

test("A request counts from its sending if its reply is quick, else from the reply on.", async () => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const throttle = new RequestThrottle();
  async function sendTwo() {
    const permits = [
      await throttle.acquire("p2p.peer.getStatus", LIMITS.timeoutMs),
      await throttle.acquire("p2p.peer.getStatus", LIMITS.timeoutMs),
    ];
    for (const permit of permits) permit.sent();
    return () => permits.at(-1)?.replied();
  }
  const hasCapacity = () => throttle.hasCapacity("p2p.peer.getStatus", 2);

  const replyToFirst = await sendTwo();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(hasCapacity()).toBe(false);
  replyToFirst();
  await vi.advanceTimersByTimeAsync(1_299);
  expect(hasCapacity()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(hasCapacity()).toBe(true);

  const replyToSecond = await sendTwo();
  await vi.advanceTimersByTimeAsync(200);
  replyToSecond();
  await vi.advanceTimersByTimeAsync(1_099);
  expect(hasCapacity()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(hasCapacity()).toBe(true);
});
