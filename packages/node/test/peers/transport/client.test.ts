/** The client of the peers: requests, rate limits, and violations of the protocol (p2p.md 12.3, 16). */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createListener, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createPeerClient, type PeerClient } from "../../../src/peers/transport/client.ts";
import { PeerError } from "../../../src/peers/transport/error.ts";
import type { PeerServer } from "../../../src/peers/transport/server.ts";
import { createRequestThrottle } from "../../../src/peers/transport/throttle.ts";
import { network, startServer } from "./server.ts";

const LIMITS = { timeoutMs: 5_000, maxBytes: 102_400 };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const heights: [string, number][] = [];
function outgoingTo(port: number): PeerClient {
  heights.length = 0;
  const client = createPeerClient(
    { port, localAddress: undefined },
    { network, onHeight: (...call) => heights.push(call) },
  );
  closers.push(client.close);
  return client;
}

async function ours(handle: () => Promise<never>): Promise<[PeerClient, PeerServer]> {
  const { server, port } = await startServer({ handle });
  closers.push(server.close);
  return [outgoingTo(port), server];
}

/** A server that performs the handshake and then behaves as the test needs. */
async function theirs(onCall: (socket: WebSocket, callId: number) => void): Promise<PeerClient> {
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
  return outgoingTo((server.address() as AddressInfo).port);
}

const requestPeers = (client: PeerClient) => client.request("127.0.0.1", "p2p.peer.getPeers", {}, LIMITS);
const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => "answered",
    (error) => {
      expect(error).toBeInstanceOf(PeerError);
      return (error as PeerError).code;
    },
  );

describe("a request", () => {
  test("reads the result, and reports the height of the peer", async () => {
    const [client] = await ours(async () => [{ ip: "203.0.113.7" }] as never);
    expect(await requestPeers(client)).toEqual([{ ip: "203.0.113.7" }]);
    expect(heights).toEqual([["127.0.0.1", 6]]);
  });

  test("dials again after the connection was lost", async () => {
    let calls = 0;
    const client = await theirs((socket, rid) => {
      if (++calls === 1) socket.terminate();
      else socket.send(JSON.stringify({ rid, data: { data: [], headers: {} } }));
    });
    expect(await codeOf(requestPeers(client))).toBe("PEER_GONE");
    expect(await requestPeers(client)).toEqual([]);
  });

  test("fails if the peer does not listen", async () => {
    expect(await codeOf(requestPeers(outgoingTo(1)))).toBe("PEER_UNREACHABLE");
  });

  test("fails without a reply in time", async () => {
    const client = await theirs(() => {});
    const asked = client.request("127.0.0.1", "p2p.peer.getPeers", {}, { ...LIMITS, timeoutMs: 50 });
    expect(await codeOf(asked)).toBe("PEER_TIMEOUT");
  });

  test("fails with the error of the peer", async () => {
    const [client] = await ours(() => Promise.reject(new Error("no")));
    await expect(requestPeers(client)).rejects.toMatchObject({
      code: "PEER_REFUSED",
      message: "p2p.peer.getPeers responded with no",
    });
  });
});

describe("a peer that breaks the protocol is disconnected", () => {
  const reply = (rid: number, data: unknown) => JSON.stringify({ rid, data });
  test.each<[string, (socket: WebSocket, rid: number) => void]>([
    ["by a reply without headers", (socket, rid) => socket.send(reply(rid, { data: [] }))],
    ["by a reply longer than was asked for", (socket, rid) => socket.send(reply(rid, "x".repeat(300_000)))],
    ["by a ping of the WebSocket", (socket) => socket.ping()],
    ["by binary data", (socket) => socket.send(Buffer.alloc(20))],
    ["by text that is no message", (socket) => socket.send("{{{{")],
    [
      "by too many messages",
      (socket) => {
        for (let count = 0; count < 40; count++) socket.send('{"event":"x"}');
      },
    ],
  ])("%s", async (_, offend) => {
    expect(await codeOf(requestPeers(await theirs(offend)))).toBe("PEER_PROTOCOL");
  });

  test("but a result of the wrong form only fails its request", async () => {
    const client = await theirs((socket, rid) => socket.send(reply(rid, { data: "none", headers: {} })));
    expect(await codeOf(requestPeers(client))).toBe("PEER_PROTOCOL");
  });
});

/** A peer whose process can be stopped: it accepts connections then, and reads what has arrived when it goes on. */
async function sleeper(host = "127.0.0.1") {
  const http = createServer();
  const sockets = new Set<Socket>();
  const state = { isAsleep: true, connections: 0, codes: [] as number[] };
  const listener = createListener({ pauseOnConnect: true }, (socket) => {
    state.connections++;
    sockets.add(socket.on("error", () => {}));
    socket.on("close", () => sockets.delete(socket));
    if (!state.isAsleep) serve(socket);
  });
  const serve = (socket: Socket) => {
    http.emit("connection", socket);
    socket.resume();
  };
  const upgrades = new WebSocketServer({ server: http, path: "/socketcluster/" });
  upgrades.on("connection", (socket) => {
    socket.on("close", (code) => state.codes.push(code));
    socket.on("message", (data) => {
      const { event, cid } = JSON.parse(String(data));
      if (event === "#handshake") socket.send('{"rid":1,"data":{"id":"x","pingTimeout":60000}}');
      else if (cid !== undefined) socket.send(JSON.stringify({ rid: cid, data: { data: [], headers: {} } }));
    });
  });
  listener.listen(0, host);
  await once(listener, "listening");
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const wake = () => {
    state.isAsleep = false;
    for (const socket of sockets) serve(socket);
  };
  return { state, sockets, wake, client: outgoingTo((listener.address() as AddressInfo).port) };
}

describe("a peer that accepts connections and does not answer", () => {
  test("gets no second connection, and the first one is used when it wakes up", async () => {
    const { state, wake, client } = await sleeper();
    expect(await codeOf(requestPeers(client))).toBe("PEER_UNREACHABLE");
    client.disconnect("127.0.0.1");
    const status = codeOf(client.request("127.0.0.1", "p2p.peer.getPeers", {}, LIMITS));
    await new Promise((resolve) => setTimeout(resolve, 500));
    wake();
    expect(await status).toBe("answered");
    expect(state.connections).toBe(1);
  });

  test("is left in order if nothing waits for it when it wakes up", async () => {
    const { state, wake, client } = await sleeper();
    expect(await codeOf(requestPeers(client))).toBe("PEER_UNREACHABLE");
    wake();
    await expect.poll(() => state.codes).toEqual([1000]);
    expect(await codeOf(requestPeers(client))).toBe("answered");
  });

  test("is one of a hundred at most", async () => {
    const { state, wake, client } = await sleeper("0.0.0.0");
    const addresses = Array.from({ length: 110 }, (_, index) => `127.0.1.${index + 1}`);
    const codes = addresses.map((address) =>
      codeOf(client.request(address, "p2p.peer.getPeers", {}, LIMITS)),
    );
    expect(new Set(await Promise.all(codes))).toEqual(new Set(["PEER_UNREACHABLE"]));
    wake();
    // The others have ended before their handshake.
    await expect.poll(() => state.codes.filter((code) => code === 1000).length).toBe(100);
  });

  test("does not delay the end of the client", async () => {
    const { sockets, wake, client } = await sleeper();
    void requestPeers(client).catch(() => {});
    await expect.poll(() => sockets.size).toBe(1);
    await client.close();
    wake();
    await expect.poll(() => sockets.size).toBe(0);
  });
});

test("A connection ends with its client although the peer does not close it.", async () => {
  const { sockets, wake, client } = await sleeper();
  wake();
  expect(await requestPeers(client)).toEqual([]);
  for (const socket of sockets) socket.pause();
  const before = performance.now();
  await client.close();
  expect(performance.now() - before).toBeLessThan(10_000);
});

test("Requests that wait for a rate limit end with the client.", async () => {
  const [client] = await ours(async () => [] as never);
  expect(await requestPeers(client)).toEqual([]);
  const waiting = Array.from({ length: 30 }, () => codeOf(requestPeers(client)));
  await client.close();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["PEER_GONE"]));
});

test("A request that waits for a rate limit keeps the only connection of its address.", async () => {
  const { sockets, wake, client } = await sleeper();
  wake();
  expect(await requestPeers(client)).toEqual([]);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 200));
  const waiting = codeOf(requestPeers(client));
  const others = Array.from({ length: 2_010 }, (_, index) => `127.1.${index >> 8}.${index & 255}`);
  await Promise.all(
    others.map((address) => client.request(address, "p2p.peer.getPeers", {}, LIMITS).catch(() => {})),
  );
  expect(await waiting).toBe("answered");
  expect(sockets.size).toBe(1);
  client.disconnect("127.0.0.1");
  await expect.poll(() => sockets.size).toBe(0);
});

test("An address of the other IP version is dialled from any of ours.", async () => {
  const { server, port } = await startServer({ handle: async () => [] as never });
  closers.push(server.close);
  const client = createPeerClient({ port, localAddress: "::1" }, { network, onHeight: () => {} });
  closers.push(client.close);
  await expect(requestPeers(client)).resolves.toEqual([]);
});

test("An address receives no more of an event than its rate limit.", async () => {
  const throttle = createRequestThrottle();
  const before = performance.now();
  await throttle.acquire("p2p.peer.getStatus");
  await throttle.acquire("p2p.peer.getStatus");
  expect(performance.now() - before).toBeLessThan(900);
  await throttle.acquire("p2p.peer.getStatus");
  expect(performance.now() - before).toBeGreaterThan(990);
});

test("At most a hundred requests wait for the rate limit of an address.", async () => {
  const throttle = createRequestThrottle();
  const turns = Array.from({ length: 161 }, () => throttle.acquire("p2p.peer.postTransactions"));
  const answers = await Promise.allSettled(turns);
  expect(answers.map(({ status }) => status)).toEqual([...Array(160).fill("fulfilled"), "rejected"]);
  expect(answers[160]).toMatchObject({ reason: { code: "PEER_BUSY", isRetryable: true } });
  await expect(throttle.acquire("p2p.peer.postTransactions")).resolves.toBeUndefined();
});

test("The remaining capacity of an address is known.", async () => {
  const throttle = createRequestThrottle();
  const room = () => [1, 2, 3].filter((count) => throttle.hasCapacity("p2p.peer.postBlock", count));
  expect(room()).toEqual([1, 2]);
  await throttle.acquire("p2p.peer.postBlock");
  expect(room()).toEqual([1]);
  await throttle.acquire("p2p.peer.postBlock");
  expect(room()).toEqual([]);
  expect(throttle.hasCapacity("p2p.peer.postTransactions", 1)).toBe(true);
});
