/** Guards of a server against clients that violate the protocol (p2p.md 2 and 6). */
import { once } from "node:events";
import { constants, networkInterfaces } from "node:os";
import { setImmediate as nextTick } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { RateLimits } from "../../../src/peers/guards/rate-limits.ts";
import type { PeerServer } from "../../../src/peers/transport/server.ts";
import {
  MAX_SERVER_MESSAGES,
  MAX_SMALL_BYTES,
  MAX_UNKNOWN_BYTES,
  TIMES_MS,
} from "../../../src/peers/wire/limits.ts";
import { present } from "../../../src/platform/present.ts";
import { skips } from "../../../test-support/process/available.ts";
import {
  callText,
  isLetIn,
  network,
  open,
  plainSocket,
  type Setting,
  startServer,
  untilClosed,
  webSocket,
} from "./server.ts";

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);
const isSkipped = skips(hasIpv6 ? undefined : "the address ::1 is missing");

/** Sockets of the layer below `node:net`. */
type Sockets = { readonly TCP: { readonly prototype: { bind6(address: string, port: number): number } } };
const sockets = (process as unknown as { binding(name: string): Sockets }).binding("tcp_wrap");

const servers: PeerServer[] = [];
async function serve(setting?: Setting): Promise<number> {
  const { server, port } = await startServer(setting);
  servers.push(server);
  return port;
}
afterEach(async () => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) await server.close();
});

const CUT = 1006;
const UPGRADE =
  "GET /socketcluster/ HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nHost: x\r\n\r\n";

describe("a violation", () => {
  test("A violation ends the connection without a close frame, and its address is refused.", async () => {
    const port = await serve();
    const socket = await open(port, "127.0.0.2");
    socket.send(callText("p2p.peer.nope", {}, 2));
    expect(await untilClosed(socket)).toEqual({ code: CUT, messages: [] });
    expect(await isLetIn(port, "127.0.0.2")).toBe(false);
    expect(await isLetIn(port, "127.0.0.3")).toBe(true);
  });

  test.each([
    ["a ping of the WebSocket", (socket: Awaited<ReturnType<typeof open>>) => socket.ping()],
    ["a pong of the WebSocket", (socket: Awaited<ReturnType<typeof open>>) => socket.pong()],
    ["binary data", (socket: Awaited<ReturnType<typeof open>>) => socket.send(Buffer.from("[1,2,3,4,5,6]"))],
  ])("A violation can be %s.", async (_, offend) => {
    const port = await serve();
    const socket = await open(port, "127.0.0.2");
    offend(socket);
    expect((await untilClosed(socket)).code).toBe(CUT);
    expect(await isLetIn(port, "127.0.0.2")).toBe(false);
  });

  test("An HTTP request for another path is a violation.", async () => {
    const port = await serve();
    const socket = await plainSocket(port);
    socket.write("POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    await once(socket, "close");
    expect(socket.bytesRead).toBe(0);
    expect(await isLetIn(port)).toBe(false);
  });

  test("A message longer than any block is a violation at its first bytes.", async () => {
    const port = await serve();
    const socket = await plainSocket(port);
    socket.write(UPGRADE);
    await once(socket, "data");
    const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
    head.writeBigUInt64BE(21_010_241n, 2);
    socket.write(head);
    await once(socket, "close");
    expect(await isLetIn(port)).toBe(false);
  });

  test("A message of more than 64 frames is a violation.", async () => {
    const port = await serve();
    const sendInFrames = async (count: number) => {
      const socket = await open(port, "127.0.0.2");
      const text = callText("p2p.peer.postTransactions", { transactions: [] }, 2).padEnd(count);
      for (let at = 0; at < count - 1; at++) socket.send(text.charAt(at), { fin: false });
      socket.send(text.slice(count - 1));
      return Promise.race([
        once(socket, "message").then(() => "reply"),
        once(socket, "close").then(() => "cut"),
      ]);
    };
    expect(await sendInFrames(64)).toBe("reply");
    expect(await sendInFrames(65)).toBe("cut");
    expect(await isLetIn(port, "127.0.0.2")).toBe(false);
  });

  test("A long message before the handshake is a violation.", async () => {
    const port = await serve();
    const socket = webSocket(port, "127.0.0.2");
    await once(socket, "open");
    socket.send(`{"event":"#handshake","data":{"authToken":"${"a".repeat(16_384)}"},"cid":1}`);
    expect((await untilClosed(socket)).code).toBe(CUT);
    expect(await isLetIn(port, "127.0.0.2")).toBe(false);
  });

  test("A long message of an event that carries no block and no transactions is a violation.", async () => {
    const port = await serve();
    const socket = await open(port, "127.0.0.2");
    socket.send(callText("p2p.peer.getStatus", { data: "a".repeat(MAX_SMALL_BYTES) }, 2));
    expect((await untilClosed(socket)).code).toBe(CUT);
    expect(await isLetIn(port, "127.0.0.2")).toBe(false);
  });

  test("A message above 4 MiB of an address that is not a peer is a violation.", async () => {
    const port = await serve({ isPeer: (address) => address === "127.0.0.3" });
    const block = { base64: true, data: "A".repeat(MAX_UNKNOWN_BYTES) };
    const post = async (address: string) => {
      const socket = await open(port, address);
      socket.send(callText("p2p.peer.postBlock", { block }, 2));
      return Promise.race([
        once(socket, "message").then(() => "reply"),
        once(socket, "close").then(() => "cut"),
      ]);
    };
    expect(await post("127.0.0.3")).toBe("reply");
    expect(await post("127.0.0.2")).toBe("cut");
  });

  test("A message longer than a block of the current height is a violation.", async () => {
    const milestones = network.milestones.map((milestone) => ({
      ...milestone,
      block: { ...milestone.block, maxPayload: milestone.height === 1 ? 1_000_000 : 200_000 },
    }));
    const headers = { version: "5.7.2", height: 5 };
    const port = await serve({ network: { ...network, milestones }, replyHeaders: () => headers });
    const post = async () => {
      const socket = await open(port, "127.0.0.2");
      socket.send(callText("p2p.peer.postBlock", { block: { base64: true, data: "A".repeat(240_000) } }, 2));
      return Promise.race([
        once(socket, "message").then(() => "reply"),
        once(socket, "close").then(() => "cut"),
      ]);
    };
    expect(await post()).toBe("reply");
    headers.height = 6_000_000;
    expect(await post()).toBe("cut");
  });

  test("Exceeding the rate limit of an address is a violation.", async () => {
    const rateLimits = new RateLimits({ eventsPerSecond: 3, exempt: new Set() });
    let calls = 0;
    const port = await serve({ rateLimits, handle: async () => [calls++] as never });
    const socket = await open(port, "127.0.0.2");
    for (let cid = 2; cid < 6; cid++) {
      socket.send(callText("p2p.peer.postTransactions", { transactions: [] }, cid));
    }
    expect((await untilClosed(socket)).code).toBe(CUT);
    expect(calls).toBe(3);
    expect(await isLetIn(port, "127.0.0.2")).toBe(false);
  });
});

test("Bytes of a message that does not end are bounded before the handshake.", async () => {
  const port = await serve();
  const socket = await plainSocket(port);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(UPGRADE);
  await once(socket, "data");
  const announces4MiB = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x40, 0, 0, 1, 2, 3, 4]);
  socket.write(Buffer.concat([announces4MiB, Buffer.alloc(200_000)]));
  await closed;
});

test("Blocks and transactions may be long.", async () => {
  const port = await serve();
  const socket = await open(port);
  socket.send(callText("p2p.peer.postBlock", { block: { base64: true, data: "A".repeat(2_000_000) } }, 2));
  expect(String((await once(socket, "message"))[0])).toContain('"rid":2');
  const transactions = [{ id: "a".repeat(200_000) }];
  socket.send(callText("p2p.peer.postTransactions", { transactions }, 3));
  expect(String((await once(socket, "message"))[0])).toContain('"rid":3');
  socket.terminate();
});

test("Another path returns 400.", async () => {
  const port = await serve();
  const socket = await plainSocket(port);
  socket.write(
    "GET /other HTTP/1.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nHost: x\r\n\r\n",
  );
  const [data] = await once(socket, "data");
  expect(String(data)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  socket.destroy();
});

test("A connection without a request is ended.", async () => {
  const socket = await plainSocket(await serve());
  socket.resume();
  await once(socket, "close");
  expect(socket.bytesRead).toBe(0);
});

test("A client without a handshake is cut and refused.", async () => {
  const port = await serve();
  const socket = webSocket(port, "127.0.0.2");
  expect((await untilClosed(socket)).code).toBe(CUT);
  expect(await isLetIn(port, "127.0.0.2")).toBe(false);
});

test("A client that aborts an attempt is refused only if it does so repeatedly.", async () => {
  const port = await serve();
  const giveUp = async () => void (await plainSocket(port)).destroy();
  const due = () => new Promise((resolve) => setTimeout(resolve, TIMES_MS.handshake + 500));
  await giveUp();
  await due();
  expect(await isLetIn(port)).toBe(true);
  for (let attempts = 0; attempts < 6; attempts++) await giveUp();
  await due();
  expect(await isLetIn(port)).toBe(false);
});

test("A banned address is refused.", async () => {
  const port = await serve({ isBanned: (address) => address === "127.0.0.2" });
  expect(await isLetIn(port, "127.0.0.2")).toBe(false);
  expect(await isLetIn(port, "127.0.0.3")).toBe(true);
});

describe.skipIf(isSkipped)("a server that listens to every address", () => {
  test("A server that listens to every address normalizes the addresses of IPv4 callers, and keeps those of IPv6.", async () => {
    const callers: string[] = [];
    const port = await serve({
      host: "::",
      handle: async (_call, { address }) => [callers.push(address)] as never,
    });
    for (const address of ["127.0.0.2", "::1"]) {
      const socket = await open(port, address);
      socket.send(callText("p2p.peer.getPeers", {}, 2));
      await once(socket, "message");
      socket.close();
    }
    expect(callers).toEqual(["127.0.0.2", "::1"]);
  });

  test("A server that listens to every address refuses banned addresses, and those of a violation, in either form.", async () => {
    const port = await serve({ host: "::", isBanned: (address) => ["127.0.0.2", "::1"].includes(address) });
    for (const banned of ["127.0.0.2", "::1"]) expect(await isLetIn(port, banned)).toBe(false);
    const socket = await open(port, "127.0.0.3");
    socket.send(callText("p2p.peer.nope", {}, 2));
    await untilClosed(socket);
    expect(await isLetIn(port, "127.0.0.3")).toBe(false);
  });

  test("A server that listens to every address counts the connections of a subnet.", async () => {
    const port = await serve({ host: "::", maxConnectionsPerSubnet: 2 });
    for (const address of ["127.0.0.2", "127.0.0.3"]) await open(port, address);
    expect(await isLetIn(port, "127.0.0.4")).toBe(false);
    expect(await isLetIn(port, "::1")).toBe(true);
  });

  test.each([[["127.0.0.2"]], [["::ffff:127.0.0.2"]], [["127.0.0.*"]], [["::ffff:127.0.*"]]])(
    "A server that listens to every address serves the forger whose address was configured as %j.",
    async (remoteAccess) => {
      const port = await serve({ host: "::", remoteAccess, handle: async () => ({}) });
      const forger = await open(port, "127.0.0.2");
      forger.send(callText("p2p.internal.syncBlockchain", {}, 2));
      expect(String((await once(forger, "message"))[0])).toContain('"rid":2,"data"');
      const stranger = await open(port, "::1");
      stranger.send(callText("p2p.internal.syncBlockchain", {}, 2));
      expect((await untilClosed(stranger)).code).toBe(CUT);
    },
  );
});

test("A server that listens to every address works without IPv6.", async () => {
  // Result of the kernel for a process that opens a socket.
  const bindIpv6 = vi.spyOn(sockets.TCP.prototype, "bind6").mockReturnValue(-constants.errno.EAFNOSUPPORT);
  onTestFinished(() => bindIpv6.mockRestore());
  const port = await serve({ host: "::" });
  expect(bindIpv6).toHaveBeenCalled();
  expect(await isLetIn(port, "127.0.0.2")).toBe(true);
});

test("A subnet has a bound on its connections, and capacity again when one ends.", async () => {
  const port = await serve({ maxConnectionsPerSubnet: 2 });
  const first = await open(port, "127.0.0.2");
  await open(port, "127.0.0.3");
  expect(await isLetIn(port, "127.0.0.4")).toBe(false);
  first.close();
  await once(first, "close");
  await expect.poll(() => isLetIn(port, "127.0.0.4")).toBe(true);
});

test("The fifth connection of an address ends the oldest one.", async () => {
  const port = await serve();
  const sockets = [];
  for (let count = 0; count < 4; count++) sockets.push(await open(port));
  const ended = untilClosed(present(sockets[0]));
  await open(port);
  expect((await ended).code).toBe(CUT);
  expect(sockets.slice(1).every(({ readyState, OPEN }) => readyState === OPEN)).toBe(true);
});

test("A client that does not read its replies is cut.", async () => {
  let made = 0;
  const port = await serve({
    async handle() {
      made++;
      return { blocks: new Uint8Array(12_000_000) };
    },
  });
  const socket = await open(port, "127.0.0.2");
  socket.pause();
  const argument = { lastBlockHeight: 1, blockLimit: 2_000 };
  for (let cid = 2; cid < 12; cid++) socket.send(callText("uniknode.peer.getBlocks", argument, cid));
  await expect.poll(() => made).toBe(10);
  const ended = untilClosed(socket);
  socket.resume();
  const { code, messages } = await ended;
  expect(code).toBe(CUT);
  expect(messages.length).toBeLessThan(5);
});

test("A suspended client may send the pongs of all pings at once, and no more.", async () => {
  const port = await serve({ times: { pingInterval: 50, pingTimeout: 60_000 } });
  const socket = await open(port, "127.0.0.2");
  for (let pings = 0; pings < 5; pings++) await once(socket, "message");
  for (let pongs = 0; pongs < 5; pongs++) socket.send("#2");
  socket.send(callText("p2p.peer.postTransactions", { transactions: [] }, 2));
  const replies: string[] = [];
  socket.on("message", (data) => replies.push(String(data)));
  await expect.poll(() => replies.some((text) => text.startsWith('{"rid":2'))).toBe(true);
  for (let pongs = 0; pongs < 40; pongs++) socket.send("#2");
  expect((await untilClosed(socket)).code).toBe(CUT);
  expect(await isLetIn(port, "127.0.0.2")).toBe(false);
});

test("A refused address is refused for its violation, and not for its handshake as well.", async () => {
  const { server, port } = await startServer();
  servers.push(server);
  const socket = await plainSocket(port);
  socket.write("POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  await once(socket, "close");
  await new Promise((resolve) => setTimeout(resolve, TIMES_MS.handshake + 500));
  expect(server.figures().cut).toMatchObject({ offence: 1, handshake: 0 });
});

test("A call without a call id is executed without a reply.", async () => {
  const calls: string[] = [];
  const port = await serve({
    handle: async ({ event }) => {
      calls.push(event);
      return [];
    },
  });
  const socket = await open(port);
  socket.send('{"event":"p2p.peer.getPeers","data":{"data":{},"headers":{}}}');
  socket.send(callText("p2p.peer.postTransactions", { transactions: [] }, 3));
  const [reply] = await once(socket, "message");
  expect(JSON.parse(String(reply)).rid).toBe(3);
  expect(calls).toEqual(["p2p.peer.getPeers", "p2p.peer.postTransactions"]);
});

test("A handshake with a token receives an error of the token, and is admitted.", async () => {
  const port = await serve();
  const socket = webSocket(port, "127.0.0.1");
  await once(socket, "open");
  const messages: string[] = [];
  socket.on("message", (data) => messages.push(String(data)));
  socket.send('{"event":"#handshake","data":{"authToken":"x.y"},"cid":1}');
  await expect.poll(() => messages.length).toBe(2);
  expect(messages[0]).toBe('{"event":"#removeAuthToken","data":null}');
  expect(JSON.parse(present(messages[1]))).toMatchObject({
    rid: 1,
    data: { authError: { name: "AuthTokenInvalidError" }, isAuthenticated: false },
  });
  socket.terminate();
});

test("An internal error is replied with its text.", async () => {
  const port = await serve({ handle: () => Promise.reject(new Error("disk full")) });
  const socket = await open(port);
  socket.send(callText("p2p.peer.getPeers", {}, 2));
  const [reply] = await once(socket, "message");
  expect(JSON.parse(String(reply))).toEqual({
    rid: 2,
    error: { message: "p2p.peer.getPeers responded with disk full" },
  });
});

test("Replies stay below the number at which a client disconnects.", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  let [handled, replies] = [0, 0];
  const handle = async () => {
    handled++;
    return [];
  };
  const port = await serve({ handle });
  const socket = await open(port, "127.0.0.2");
  socket.on("message", () => replies++);
  for (let cid = 2; cid < 42; cid++)
    socket.send(callText("p2p.peer.postTransactions", { transactions: [] }, cid));
  const { events, windowMs } = MAX_SERVER_MESSAGES;
  // The reply to the handshake is one of the window. `expect.poll` would advance the timers.
  while (handled < 40 || replies < events - 6) await nextTick();
  await vi.advanceTimersByTimeAsync(windowMs - 1);
  expect(replies).toBe(events - 6);
  await vi.advanceTimersByTimeAsync(1);
  while (replies < 40) await nextTick();
});

test("A listening address that is not available is reported with the next step.", async () => {
  const port = await serve();
  await expect(startServer({ port })).rejects.toThrow(/is in use.*--p2p-host/);
  await expect(startServer({ host: "203.0.113.7" })).rejects.toThrow(/is not an address of this machine/);
});
