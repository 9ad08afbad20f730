import { once } from "node:events";
import { connect } from "node:net";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import type { NodeStatus } from "../../src/gateway/gateway.ts";
import { LATE } from "../../src/http/connections/bounds.ts";
import { present } from "../../src/platform/present.ts";
import { CallError } from "../../src/platform/threads/call.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { alice, chain, unik } from "../../test-support/http/chain.ts";
import { NOW_MS, openFixture } from "../../test-support/http/fixture.ts";

describe("rate limit", () => {
  test("The rate limit refuses requests beyond the limit until the window ends.", async () => {
    let now = NOW_MS;
    const limited = openFixture({ rateLimit: { limit: 2, windowMs: 1_000 } }, { nowMs: () => now });
    const remaining = async (url: string) => {
      const { statusCode, headers } = await limited.get(url);
      return [statusCode, headers["x-ratelimit-userremaining"]];
    };
    expect(await remaining("/api/blockchain")).toEqual([200, "1"]);
    expect(await remaining("/nothing")).toEqual([404, undefined]);
    expect(await remaining("/api/blocks?limit=0")).toEqual([422, "0"]);
    expect(await remaining("/api/blockchain")).toEqual([429, "-1"]);
    const refused = await limited.get("/");
    expect(refused.json()).toEqual({
      statusCode: 429,
      error: "Too Many Requests",
      message: expect.stringMatching(/^Rate limit exceeded: retry in \d+ s$/),
    });
    expect(refused.headers).toMatchObject({
      "x-ratelimit-userlimit": "2",
      "x-ratelimit-userremaining": "-2",
      "x-ratelimit-userreset": `${NOW_MS + 1_000}`,
    });
    now += 1_000;
    expect(await remaining("/api/blockchain")).toEqual([200, "1"]);
    await limited.close();
  });

  test("The rate limit counts each address separately, or the first one that a proxy names.", async () => {
    const limited = openFixture({ rateLimit: { limit: 1, windowMs: 1_000 }, trustedProxies: "*" });
    const from = async (address: string) =>
      (await limited.get("/api/blockchain", { "x-forwarded-for": `${address}, 10.0.0.1` })).statusCode;
    expect([await from("192.0.2.1"), await from("192.0.2.2"), await from("192.0.2.1")]).toEqual([
      200, 200, 429,
    ]);
    await limited.close();
  });

  test("The rate limit counts tokens of other names, which may exist elsewhere, but no unknown paths.", async () => {
    const limited = openFixture({ rateLimit: { limit: 100, windowMs: 1_000 } });
    const ask = async (method: "GET" | "POST", url: string) => {
      const { statusCode, headers } = await limited.app.inject({ method, url });
      return [statusCode, headers["x-ratelimit-userremaining"]];
    };
    const id = unik.alice;
    expect(await ask("GET", "/api/foos")).toEqual([404, "99"]);
    expect(await ask("GET", `/api/v2/foos/${id}`)).toEqual([404, "98"]);
    expect(await ask("GET", `/api/foos/${id}/properties`)).toEqual([404, "97"]);
    expect(await ask("GET", `/api/foos/${id}/properties/type`)).toEqual([404, "96"]);
    expect(await ask("POST", "/api/foos/search")).toEqual([404, "95"]);
    const unknown = [
      ["GET", "/api/foo"],
      ["GET", `/api/foos/${id}/transactions`],
      ["GET", `/api/uniks/${id}/transactions`],
      ["POST", "/api/foos"],
    ] as const;
    for (const [method, url] of unknown) expect(await ask(method, url)).toEqual([404, undefined]);
    expect(await ask("GET", "/api/uniks")).toEqual([200, "94"]);
    await limited.close();
  });

  test("The rate limit omits its headers for unreadable bodies, redirects and preflights.", async () => {
    const limited = openFixture({ rateLimit: { limit: 10, windowMs: 1_000 } });
    const responses = await Promise.all([
      limited.app.inject({ method: "POST", url: "/api/uniks/search", payload: "{" }),
      limited.get("/api/blockchain/"),
      limited.app.inject({
        method: "OPTIONS",
        url: "/api/blockchain",
        headers: { origin: "https://a.example" },
      }),
    ]);
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([422, 301, 200]);
    for (const { headers } of responses) expect(headers).not.toHaveProperty("x-ratelimit-userlimit");
    await limited.close();
  });
});

describe("failures", () => {
  test("Failures reveal nothing about the internals of the node.", async () => {
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const broken = openFixture({}, { logger });
    broken.gateway.status = async () => {
      throw new Error("secret detail");
    };
    const response = await broken.get("/api/node/status");
    expect(response.json()).toEqual({
      statusCode: 500,
      error: "Internal Server Error",
      message: "An internal server error occurred",
    });
    expect(JSON.parse(present(lines[0], "a line"))).toMatchObject({
      msg: "request failed",
      route: "/api/node/status",
    });
    expect(lines[0]).toContain("secret detail");
    await broken.close();
  });

  test("Failures are 503 if the node does not respond in time.", async () => {
    const silent = openFixture({ responseTimeoutMs: 20 });
    silent.gateway.status = () => new Promise(() => {});
    const response = await silent.get("/api/node/status");
    expect(response.json()).toEqual({
      statusCode: 503,
      error: "Service Unavailable",
      message: LATE,
    });
    expect(response.headers["retry-after"]).toBe("10");
    await silent.close();
  });

  test("Failures are 503 if the node is overloaded, with Retry-After.", async () => {
    const busy = openFixture();
    busy.gateway.submit = async () => {
      throw new CallError("CALL_REFUSED", "secret detail");
    };
    const response = await busy.post("/api/transactions", { transactions: [{}] });
    expect(response.json()).toEqual({
      statusCode: 503,
      error: "Service Unavailable",
      message: "Service Unavailable: too many requests are in progress; retry in 10 s",
    });
    expect(response.headers["retry-after"]).toBe("10");
    await busy.close();
  });

  test("Unexpected errors are 500 for any thrown value.", async () => {
    const broken = openFixture();
    for (const thrown of [undefined, null, "no", {}]) {
      broken.gateway.status = () => Promise.reject(thrown);
      const response = await broken.get("/api/node/status");
      expect(response.json()).toMatchObject({
        statusCode: 500,
        message: "An internal server error occurred",
      });
    }
    await broken.close();
  });

  test("Failures are waited for as long as their route specifies.", async () => {
    const work = Promise.withResolvers<object>();
    const patient = openFixture(
      { responseTimeoutMs: 20 },
      {
        plugins: [
          async (app) => {
            app.get("/long", { config: { responseTimeoutMs: 60_000 } }, () => work.promise);
            app.get("/short", () => work.promise);
          },
        ],
      },
    );
    const long = patient.get("/api/long");
    expect((await patient.get("/api/short")).statusCode).toBe(503);
    work.resolve({ data: 1 });
    expect((await long).json()).toEqual({ data: 1 });
    await patient.close();
  });

  test("Failures are 503 while there is no genesis block.", async () => {
    const empty = openDatabase(":memory:");
    migrate(empty);
    const waiting = openFixture({}, { database: empty });
    const response = await waiting.get("/api/blockchain");
    expect(response.json()).toEqual({
      statusCode: 503,
      error: "Service Unavailable",
      message: "Service Unavailable: the node has no block yet, or its mirror is being built; retry in 10 s",
    });
    await waiting.close();
    empty.close();
  });

  test("Failures of a plugin keep their status.", async () => {
    const plugged = openFixture(
      {},
      {
        plugins: [
          async (app) => {
            app.get("/webhooks", () => {
              throw Object.assign(new Error("invalid token"), { statusCode: 401 });
            });
          },
        ],
      },
    );
    for (const prefix of ["/api", "/api/v2"]) {
      const response = await plugged.get(`${prefix}/webhooks`);
      expect(response.json()).toMatchObject({
        statusCode: 401,
        error: "Unauthorized",
        message: "invalid token",
      });
    }
    await plugged.close();
  });
});

test("Searches without an index are aborted after their time limit.", async () => {
  const hurried = openFixture({ readTimeoutMs: -1 });
  const error = "Service Unavailable";
  for (const query of [
    "vendorField=nothing",
    "vendorField=o&orderBy=amount:asc",
    "amount=1",
    "typeGroup=1&fee=7",
  ]) {
    const response = await hurried.get(`/api/transactions?${query}`);
    expect([response.statusCode, response.json()]).toEqual([503, { statusCode: 503, error, message: LATE }]);
  }
  // A lookup by id is not at risk.
  expect((await hurried.get("/api/blocks/last")).statusCode).toBe(200);
  await hurried.close();
});

describe("sockets", () => {
  test("The server listens on a free port and closes with connections open.", async () => {
    const listening = openFixture();
    const { port, address } = await listening.listen();
    expect(address).toBe("127.0.0.1");
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /api/blockchain HTTP/1.1\r\n");
    await once(socket, "connect");
    const response = await fetch(`http://127.0.0.1:${port}/api/v2/blockchain`);
    expect(((await response.json()) as { data: { block: object } }).data.block).toEqual({
      height: chain.blocks.length,
      id: chain.blocks.at(-1)?.header.id,
    });
    const closed = once(socket, "close");
    await listening.close();
    await closed;
  });

  test("The server finishes an open request before it closes.", async () => {
    const listening = openFixture();
    const { port } = await listening.listen();
    const status = Promise.withResolvers<NodeStatus>();
    const requested = Promise.withResolvers<void>();
    listening.gateway.status = () => {
      requested.resolve();
      return status.promise;
    };
    const response = fetch(`http://127.0.0.1:${port}/api/node/status`);
    await requested.promise;
    const closed = listening.close();
    status.resolve({ synced: true, now: 1, blocksCount: 0, timestamp: 1 });
    expect((await response).status).toBe(200);
    await closed;
  });

  test("A body larger than the announced limit is refused while it is being sent.", async () => {
    const listening = openFixture();
    const { port } = await listening.listen();
    const socket = connect(port, "127.0.0.1");
    const head = "POST /api/transactions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    socket.write(head);
    const chunk = `${(65_536).toString(16)}\r\n${" ".repeat(65_536)}\r\n`;
    for (let sent = 0; sent < 20; sent += 1) socket.write(chunk);
    const [data] = (await once(socket, "data")) as [Buffer];
    expect(data.toString()).toMatch(/^HTTP\/1.1 422 /);
    socket.destroy();
    await listening.close();
  });

  test("The server reads one state per request while the chain continues.", async () => {
    const growing = openFixture();
    const { port } = await growing.listen();
    const writer = openDatabase(growing.path);
    const read = async (path: string) =>
      (await (await fetch(`http://127.0.0.1:${port}/api/${path}`)).json()) as {
        chainmeta: { height: number };
        data: { balance: number; block: { height: number } };
      };
    const before = await read(`wallets/${alice.address}`);
    writer.transaction(() => {
      writer.execute("DELETE FROM blocks WHERE height = 4");
      writer.execute(`UPDATE wallets SET balance = 1 WHERE address = '${alice.address}'`);
    });
    const after = await read(`wallets/${alice.address}`);
    expect([before.chainmeta.height, after.chainmeta.height]).toEqual([4, 3]);
    expect(after.data.balance).toBe(1);
    expect((await read("blockchain")).data.block.height).toBe(3);
    writer.close();
    await growing.close();
  });
});
