/** Clients that open more connections than allowed, and others that share the server with them. */

import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Connections } from "../../src/http/connections/connections.ts";
import { createRangeTest } from "../../src/platform/addresses.ts";
import { present } from "../../src/platform/present.ts";
import { type Fixture, openFixture } from "../../test-support/http/fixture.ts";
import { connectFrom, occupy, statusFrom } from "../../test-support/http/sockets.ts";
import { apiUrlOf, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

async function serve(options: Parameters<typeof openFixture>[0] = {}): Promise<Fixture & { port: number }> {
  const fixture = openFixture(options);
  onTestFinished(fixture.close);
  const { port } = await fixture.listen();
  return { ...fixture, port };
}

/** Connections that are closed when the test ends. */
async function hold(...occupation: Parameters<typeof occupy>): ReturnType<typeof occupy> {
  const held = await occupy(...occupation);
  onTestFinished(held.close);
  return held;
}

/** Settles at the end of the connection, with or without an error. */
const closeOf = (socket: Socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()));

const HALF_HEADERS = "GET /api/blockchain HTTP/1.1\r\nHost: a\r\n";
const HALF_BODY = "POST /api/blocks/search HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{";
const WHOLE_REQUEST = "GET /api/blockchain HTTP/1.1\r\nHost: a\r\n\r\n";
const DOCUMENT = "GET /api/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n";

test("600 half-open connections of one address leave capacity for another address", async () => {
  const { port, connections } = await serve();
  await hold(port, { from: "127.0.0.1", count: 600, send: HALF_HEADERS });
  expect(await statusFrom("127.0.0.2", port, "/api/blockchain")).toMatchObject({ status: 200 });
  expect(connections().open).toBeLessThanOrEqual(501);
  expect(connections().refused).toMatchObject({
    client: expect.toSatisfy((count: number) => count > 0),
    total: 0,
  });
});

test("Half-open connections are evicted before slow bodies.", async () => {
  // A busy server receives the headers of the bodies late, too.
  const headersTimeoutMs = Math.ceil(WAIT_MS / 60);
  const { port, connections } = await serve({
    headersTimeoutMs,
    // No other limit may close them first.
    requestTimeoutMs: WAIT_MS,
    responseTimeoutMs: WAIT_MS,
    silenceTimeoutMs: WAIT_MS,
  });
  await hold(port, { from: "127.0.0.1", count: 10, send: HALF_HEADERS });
  const bodies = await hold(port, { from: "127.0.0.1", count: 10, send: HALF_BODY });
  await expect.poll(() => connections()).toMatchObject({ open: 10, closed: { late: 10 } });
  expect(bodies.sockets.filter(({ closed }) => closed)).toEqual([]);
});

describe("when all connections are in use", () => {
  const bounds = { total: 40, perClient: 10 };
  const ATTACKERS = ["127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.4"];

  test.each([
    ["silent", ""],
    ["half-open", HALF_HEADERS],
    ["sending a body slowly", HALF_BODY],
    ["idle after a response", WHOLE_REQUEST],
  ])("At the limit, a new client replaces a connection that is %s.", async (_what, send) => {
    const { port, connections } = await serve({ connections: bounds });
    for (const from of ATTACKERS) {
      await hold(port, { from, count: 10, send });
    }
    for (let requested = 0; requested < 3; requested += 1) {
      expect(await statusFrom("127.0.0.2", port, "/api/blockchain")).toMatchObject({ status: 200 });
    }
    expect(connections().closed.evicted).toBeGreaterThan(0);
  });

  test("At the limit, a new client replaces a connection that does not read its responses.", async () => {
    const { port, connections } = await serve({ connections: { total: 3, perClient: 3 } });
    for (let opened = 0; opened < 3; opened += 1) {
      const socket = await connectFrom("127.0.1.1", port);
      onTestFinished(() => void socket.destroy());
      socket.pause();
      socket.write(DOCUMENT.repeat(32));
    }
    await expect
      .poll(
        async () => (await statusFrom("127.0.0.2", port, "/api/blockchain").catch(() => undefined))?.status,
      )
      .toBe(200);
    expect(connections().closed.evicted).toBeGreaterThan(0);
  });

  test("At the limit, the client with the most connections loses its oldest, and those with few keep theirs.", async () => {
    const { port } = await serve({ connections: { total: 6, perClient: 4 } });
    const honest = await hold(port, { from: "127.0.0.2", count: 2, send: WHOLE_REQUEST });
    const attack = await hold(port, { from: "127.0.1.1", count: 4, send: HALF_HEADERS });
    const oldest = closeOf(present(attack.sockets[0], "a socket"));
    expect(await statusFrom("127.0.0.3", port, "/api/blockchain")).toMatchObject({ status: 200 });
    await oldest;
    expect(honest.sockets.map(({ closed }) => closed)).toEqual([false, false]);
    expect(attack.sockets.map(({ closed }) => closed)).toEqual([true, false, false, false]);
  });

  test("At the limit, a connection whose response is in progress is not evicted.", async () => {
    const { port, gateway, connections } = await serve({ connections: { total: 2, perClient: 2 } });
    const status = Promise.withResolvers<Awaited<ReturnType<typeof gateway.status>>>();
    let requested = 0;
    gateway.status = () => {
      requested += 1;
      return status.promise;
    };
    const responses = ["127.0.1.1", "127.0.1.1"].map((from) => statusFrom(from, port, "/api/node/status"));
    await expect.poll(() => requested).toBe(2);
    await expect(statusFrom("127.0.0.2", port, "/api/blockchain")).rejects.toThrow();
    expect(connections().refused.total).toBe(1);
    status.resolve({ synced: true, now: 1, blocksCount: 0, timestamp: 1 });
    expect((await Promise.all(responses)).map((response) => response.status)).toEqual([200, 200]);
  });
});

test("Connections of a trusted proxy count only in the total.", async () => {
  const { port, connections } = await serve({
    connections: { total: 6, perClient: 2 },
    trustedProxies: "127.0.0.1",
  });
  const proxied = await hold(port, { from: "127.0.0.1", count: 4, send: WHOLE_REQUEST });
  await hold(port, { from: "127.0.0.2", count: 3, send: "" });
  await expect.poll(() => connections().refused.client).toBe(1);
  expect(proxied.sockets.filter(({ closed }) => closed)).toEqual([]);
  expect(connections()).toMatchObject({ open: 6, refused: { total: 0 }, closed: { evicted: 0 } });
  expect(await statusFrom("127.0.0.1", port, "/api/blockchain")).toMatchObject({ status: 200 });
  expect(connections().closed.evicted).toBe(1);
});

test("A client that pipelined too much gets connections again after 10 s, also while another client repeats it.", async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const connections = new Connections({ total: 100, perClient: 10 }, createRangeTest(""));
  const admitted = (remoteAddress: string) => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, writableLength: 0, bytesRead: 0 });
    const opened = Object.assign(socket, { destroy: () => void socket.emit("close") }) as unknown as Socket;
    const before = connections.figures().open;
    connections.admit(opened);
    return { socket: opened, isOpen: connections.figures().open > before };
  };
  const pipeline = (socket: Socket) => {
    for (let sent = 0; sent <= 32; sent += 1) {
      connections.begin(socket, new EventEmitter() as ServerResponse, () => {});
    }
  };
  const [one, again, other] = [admitted("192.0.2.1"), admitted("192.0.2.1"), admitted("192.0.2.2")];
  pipeline(one.socket);
  nowMs = 1_000;
  pipeline(other.socket);
  nowMs = 9_000;
  pipeline(again.socket);
  expect(connections.figures().closed.pipelined).toBe(3);
  expect([admitted("192.0.2.1").isOpen, admitted("192.0.2.2").isOpen]).toEqual([false, false]);
  nowMs = 11_000;
  expect([admitted("192.0.2.1").isOpen, admitted("192.0.2.2").isOpen]).toEqual([false, true]);
  nowMs = 19_000;
  expect(admitted("192.0.2.1").isOpen).toBe(true);
});

describe("clients of IPv6", () => {
  class FakeSocket extends EventEmitter {
    readonly remoteAddress: string;
    readonly writableLength = 0;
    constructor(remoteAddress: string) {
      super();
      this.remoteAddress = remoteAddress;
    }
    destroy() {
      this.emit("close");
    }
  }
  const open = (bounds: { total: number; perClient: number }, isProxy = createRangeTest("")) => {
    const connections = new Connections(bounds, isProxy);
    return {
      all: () => connections.all(),
      figures: () => connections.figures(),
      from: (address: string) => connections.admit(new FakeSocket(address) as unknown as Socket),
    };
  };

  test("Clients of IPv6 are counted by their /64, and by their /48 as two of them.", () => {
    const { from, figures } = open({ total: 100, perClient: 2 });
    for (const host of [1, 2, 3]) from(`2001:db8:0:1::${host}`);
    expect(figures()).toMatchObject({ open: 2, refused: { client: 1, site: 0 } });
    for (const subnet of [2, 3, 4]) from(`2001:db8:0:${subnet}::1`);
    expect(figures()).toMatchObject({ open: 4, refused: { client: 1, site: 1 } });
    from("2001:db8:1::1");
    expect(figures().open).toBe(5);
  });

  test("Clients of IPv6 are IPv4 clients if IPv4 is written as IPv6.", () => {
    const { from, figures } = open({ total: 100, perClient: 1 });
    from("::ffff:192.0.2.1");
    from("192.0.2.1");
    from("::ffff:192.0.2.2");
    expect(figures()).toMatchObject({ open: 2, refused: { client: 1 } });
  });

  test("Clients of IPv6 do not exclude an honest client with 20,000 of their /64s.", () => {
    const { from, figures } = open({ total: 100, perClient: 20 });
    for (let subnet = 0; subnet < 20_000; subnet += 1) {
      from(`2001:db8:${(subnet >> 8).toString(16)}:${(subnet & 255).toString(16)}::1`);
    }
    const before = figures();
    expect(before.open).toBe(100);
    from("192.0.2.1");
    expect(figures()).toEqual({
      ...before,
      closed: { ...before.closed, evicted: before.closed.evicted + 1 },
    });
  });

  test("Clients of IPv6 release their capacity when they disconnect.", () => {
    const { from, all, figures } = open({ total: 100, perClient: 1 });
    for (let again = 0; again < 3; again += 1) {
      from("2001:db8::1");
      for (const { socket } of all()) socket.destroy();
    }
    expect(figures()).toMatchObject({ open: 0, refused: { client: 0, site: 0 } });
  });
});

describe("limits of one connection", () => {
  test("32 requests before their responses", async () => {
    const { port, connections } = await serve();
    const socket = await connectFrom("127.0.0.1", port);
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    socket.write(WHOLE_REQUEST.repeat(32));
    await expect.poll(() => text.split("HTTP/1.1 200 OK").length - 1).toBe(32);
    const closed = closeOf(socket);
    socket.write(WHOLE_REQUEST.repeat(20_000));
    await closed;
    expect(text.split("HTTP/1.1 200 OK").length - 1).toBeLessThan(64 + 32);
    expect(connections().closed.pipelined).toBe(1);
    await closeOf(await connectFrom("127.0.0.1", port));
    expect(connections().refused.offender).toBe(1);
    expect(await statusFrom("127.0.0.2", port, "/api/blockchain")).toMatchObject({ status: 200 });
  });

  test("The limits bound the bytes of unread responses, over all connections.", async () => {
    // One document of 200 kB is buffered per connection at a time.
    const { port, connections } = await serve({ maxHeldBytes: 500_000 });
    for (let opened = 0; opened < 10; opened += 1) {
      const socket = await connectFrom("127.0.0.1", port);
      onTestFinished(() => void socket.destroy());
      socket.pause();
      socket.write(DOCUMENT.repeat(32));
    }
    await expect.poll(() => connections().closed.memory).toBeGreaterThan(0);
    expect(connections().closed.memory).toBeLessThan(10);
    expect(await statusFrom("127.0.0.1", port, "/api/blockchain")).toMatchObject({ status: 200 });
  });

  test("The limits bound the bytes of incomplete bodies, so that others can send theirs.", async () => {
    const { port, connections } = await serve({ maxHeldBytes: 2_000_000 });
    const begin = (count: number) =>
      `POST /api/blocks/search HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${" ".repeat(count)}`;
    const honest = await hold(port, { from: "127.0.0.2", count: 1, send: begin(900_000) });
    await hold(port, { from: "127.0.0.1", count: 10, send: begin(800_000) });
    await expect.poll(() => connections().closed.memory).toBe(9);
    expect(honest.sockets.map(({ closed }) => closed)).toEqual([false]);
  });
});

test("A server with half-open connections closes before they time out.", async () => {
  const never = 24 * 3_600_000;
  const fixture = openFixture({ headersTimeoutMs: never, requestTimeoutMs: never });
  const { port } = await fixture.listen();
  await hold(port, { from: "127.0.0.1", count: 100, send: HALF_HEADERS });
  await hold(port, { from: "127.0.0.2", count: 100, send: HALF_BODY });
  await fixture.close();
});

test("Pipelined requests are handled one after another.", async () => {
  const connections = new Connections({ total: 10, perClient: 10 }, () => false);
  const socket = Object.assign(new EventEmitter(), { remoteAddress: "127.0.0.1", bytesRead: 0 });
  connections.admit(socket as unknown as Socket);
  const handled: number[] = [];
  const begin = (index: number): ServerResponse => {
    const response = new EventEmitter() as ServerResponse;
    connections.begin(socket as unknown as Socket, response, () => handled.push(index));
    return response;
  };
  const [first, second] = [begin(0), begin(1), begin(2)];
  expect(handled).toEqual([0]);
  first.emit("close");
  // Others were processed in between.
  await new Promise(setImmediate);
  expect(handled).toEqual([0, 1]);
  // After the connection has closed, no more of its requests are processed.
  socket.emit("close");
  second.emit("close");
  await new Promise(setImmediate);
  expect(handled).toEqual([0, 1]);
});

test("Bytes after the cut of a connection are not read.", async () => {
  const { port, app } = await serve();
  let requests = 0;
  app.server.on("request", () => {
    requests += 1;
  });
  const socket = await connectFrom("127.0.0.9", port);
  socket.resume();
  const closed = closeOf(socket);
  socket.write(WHOLE_REQUEST.repeat(1_000));
  await closed;
  // 32 and the one too many; the parser stops at the next one.
  expect(requests).toBe(33);
});

test("Clients that pipeline large responses and read none of them have one response each in memory.", async () => {
  const { port } = await serve();
  const before = process.memoryUsage();
  for (let opened = 0; opened < 100; opened += 1) {
    const socket = await connectFrom(`127.0.3.${1 + opened}`, port);
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.write(DOCUMENT.repeat(32));
  }
  expect(await statusFrom("127.0.0.2", port, "/api/blockchain")).toMatchObject({ status: 200 });
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  // 100 connections with 32 responses of 200 kB each would be 640 MB.
  const MAX_BYTES = 128 * 1024 * 1024;
  expect(arrayBuffers + heapUsed - before.arrayBuffers - before.heapUsed).toBeLessThan(MAX_BYTES);
});

test("The time of a connection without a request is an option.", async () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-keep-alive-"));
  const node = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--http-keep-alive", "75"]);
  onTestFinished(async () => {
    node.child.kill("SIGTERM");
    await node.ended;
    rmSync(folder, { recursive: true });
  });
  const url = await apiUrlOf(node);
  expect((await fetch(`${url}/api/v2/node/status`)).headers.get("keep-alive")).toBe("timeout=75");
});
