/** Protection of the server against untrusted clients. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { Allowances } from "../../src/http/connections/admission.ts";
import { NOW_MS, openFixture } from "../../test-support/http/fixture.ts";

test("Every response makes browsers treat it as data.", async () => {
  const fixture = openFixture();
  const responses = await Promise.all([
    fixture.get("/api/blockchain"),
    fixture.get("/nothing"),
    fixture.get("/api/blocks?limit=0"),
    fixture.get("/api/%"),
  ]);
  expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 404, 422, 400]);
  for (const { headers } of responses) {
    expect(headers).toMatchObject({
      "cache-control": "no-cache",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
  }
  await fixture.close();
});

test("Addresses that are not listed get 403 on every path.", async () => {
  const fixture = openFixture({ allowed: "10.0.0.0/8,2001:db8::1" });
  const ask = (remoteAddress: string, url = "/api/blockchain") => fixture.app.inject({ url, remoteAddress });
  const statuses = async (...addresses: string[]) =>
    Promise.all(addresses.map(async (address) => (await ask(address)).statusCode));
  expect(await statuses("10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1")).toEqual([200, 200, 200]);
  expect(await statuses("11.1.2.3", "2001:db8::2")).toEqual([403, 403]);
  for (const url of ["/", "/nothing", "/api/webhooks"]) {
    const refused = await ask("11.1.2.3", url);
    expect(refused.json()).toMatchObject({
      statusCode: 403,
      error: "Forbidden",
      message: "This node does not serve the address 11.1.2.3: see --http-allow",
    });
  }
  await fixture.close();
});

test("Pages of unlisted addresses can read the refusal, and are granted nothing.", async () => {
  const fixture = openFixture({ allowed: "10.0.0.0/8" });
  const origin = "https://a.example";
  for (const method of ["GET", "OPTIONS"] as const) {
    const { statusCode, headers } = await fixture.app.inject({
      method,
      url: "/api/blockchain",
      remoteAddress: "11.1.2.3",
      headers: { origin },
    });
    expect(statusCode).toBe(403);
    expect(headers).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
    });
    expect(headers).not.toHaveProperty("access-control-max-age");
  }
  await fixture.close();
});

test("Only trusted proxies name the address of a client, and only of their own clients.", async () => {
  const fixture = openFixture({ trustedProxies: "10.0.0.0/8", allowed: "192.0.2.1" });
  const ask = async (remoteAddress: string, forwarded: string) =>
    (await fixture.app.inject({ url: "/", remoteAddress, headers: { "x-forwarded-for": forwarded } }))
      .statusCode;
  expect(await ask("10.0.0.1", "192.0.2.1")).toBe(200);
  expect(await ask("10.0.0.1", "192.0.2.1, 10.0.0.2")).toBe(200);
  // The client wrote the first entry itself.
  expect(await ask("10.0.0.1", "192.0.2.1, 203.0.113.5")).toBe(403);
  expect(await ask("203.0.113.5", "192.0.2.1")).toBe(403);
  await fixture.close();
});

test("The rate limit is in the usual headers as well, with the time to wait.", async () => {
  let now = NOW_MS;
  const fixture = openFixture({ rateLimit: { limit: 1, windowMs: 60_000 } }, { nowMs: () => now });
  expect((await fixture.get("/")).headers).toMatchObject({
    "ratelimit-policy": "1;w=60",
    "ratelimit-limit": "1",
    "ratelimit-remaining": "0",
    "ratelimit-reset": "60",
  });
  now += 20_500;
  const refused = await fixture.get("/");
  expect(refused.statusCode).toBe(429);
  expect(refused.headers).toMatchObject({
    "ratelimit-remaining": "0",
    "ratelimit-reset": "40",
    "retry-after": "40",
  });
  await fixture.close();
});

test("Addresses of one /64 of IPv6 are one client.", async () => {
  const fixture = openFixture({ rateLimit: { limit: 1, windowMs: 1_000 } });
  const from = async (remoteAddress: string) =>
    (await fixture.app.inject({ url: "/", remoteAddress })).statusCode;
  expect(await from("2001:db8:0:1::1")).toBe(200);
  expect(await from("2001:db8:0:1:ffff::2")).toBe(429);
  expect(await from("2001:db8:0:2::1")).toBe(200);
  expect(await from("::ffff:192.0.2.1")).toBe(200);
  expect(await from("192.0.2.1")).toBe(429);
  await fixture.close();
});

test("A /48 of IPv6 has the request budget of ten clients.", async () => {
  const fixture = openFixture({ rateLimit: { limit: 2, windowMs: 1_000 } });
  const from = async (remoteAddress: string) =>
    (await fixture.app.inject({ url: "/", remoteAddress })).statusCode;
  const requested = Array.from({ length: 21 }, (_, subnet) => from(`2001:db8:0:${subnet.toString(16)}::1`));
  const responses = await Promise.all(requested);
  expect(responses).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
  expect(await from("2001:db8:1::1")).toBe(200);
  await fixture.close();
});

test("50,000 clients in one window leave an honest one its requests, and are evicted in turn", () => {
  const allowances = new Allowances({ limit: 2, windowMs: 60_000 });
  const remaining = (address: string) => allowances.count(address, 0).remaining;
  expect([remaining("192.0.2.1"), remaining("192.0.2.1"), remaining("192.0.2.1")]).toEqual([1, 0, -1]);
  for (let client = 0; client < 50_000; client += 1) {
    const parts = [client >> 8, client & 255].map((part) => part.toString(16));
    remaining(`2001:db8:${parts.join(":")}::1`);
  }
  // The oldest window was evicted for capacity, and a new one started.
  expect(remaining("192.0.2.1")).toBe(1);
});

test("A clock that is set back does not lengthen a window", () => {
  const allowances = new Allowances({ limit: 1, windowMs: 60_000 });
  const hourMs = 3_600_000;
  const remaining = (nowMs: number) => allowances.count("192.0.2.1", nowMs).remaining;
  expect([remaining(hourMs), remaining(hourMs)]).toEqual([0, -1]);
  expect([remaining(0), remaining(1), remaining(60_000)]).toEqual([0, -1, 0]);
});

test("A body that does not arrive within the response time limit returns 408.", async () => {
  const fixture = openFixture({ responseTimeoutMs: 50 });
  const { port } = await fixture.listen();
  const socket = connect(port, "127.0.0.1");
  socket.write("POST /api/blocks/search HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{");
  const received: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => received.push(chunk));
  await once(socket, "close");
  const response = Buffer.concat(received).toString();
  expect(response).toMatch(/^HTTP\/1.1 408 /);
  expect(response).toContain('"message":"The body did not arrive in time"');
  await fixture.close();
});

/** Requests more than fits between two sockets, and reads a little of it on demand. */
async function slowReader(port: number) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.pause();
  askForMore(socket);
  return socket;
}

const ASKED_AT_ONCE = 30;
const askForMore = (socket: Socket) =>
  void socket.write("GET /api/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n".repeat(ASKED_AT_ONCE));

test.each([0, 1_000])("A client that reads %i bytes at intervals is disconnected.", async (bytes) => {
  const fixture = openFixture({ takeTimeoutMs: 300 });
  const { port } = await fixture.listen();
  const connections = () =>
    new Promise<number>((resolve) => fixture.app.server.getConnections((_error, count) => resolve(count)));
  const socket = await slowReader(port);
  await expect.poll(connections).toBe(1);
  await expect
    .poll(
      async () => {
        if (bytes > 0) socket.read(bytes);
        return connections();
      },
      { interval: 10 },
    )
    .toBe(0);
  socket.destroy();
  await fixture.close();
});

test("A client that reads each response in time can request many.", async () => {
  const fixture = openFixture({ takeTimeoutMs: 300 });
  const { port } = await fixture.listen();
  const socket = await slowReader(port);
  let responses = 0;
  socket.on("data", (chunk: Buffer) => {
    const before = responses;
    responses += chunk.toString("latin1").split("HTTP/1.1 200 OK").length - 1;
    if (responses > before && responses % ASKED_AT_ONCE === 0) askForMore(socket);
  });
  socket.resume();
  await expect.poll(() => responses).toBeGreaterThan(490);
  socket.destroy();
  await fixture.close();
});
