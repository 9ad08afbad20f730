import { once } from "node:events";
import { connect } from "node:net";
import { gunzipSync, inflateSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { encodingFor } from "../../src/http/transport/compression.ts";
import { openDatabase } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrations.ts";
import { alice, chain, NOW_MS, openFixture, stranger } from "./fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const NOT_FOUND = { statusCode: 404, error: "Not Found", message: "Not Found" };

describe("paths", () => {
  test("greets at the root", async () => {
    const answer = await fixture.get("/");
    expect(answer.json()).toEqual({ data: "Hello World!" });
    expect(answer.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-cache",
    });
  });

  test.each([
    ["GET", "/nothing"],
    ["GET", "/api"],
    ["GET", "/api/v2"],
    ["GET", "/api/v1/blockchain"],
    ["GET", "/v2/api/blockchain"],
    ["GET", "/api//blockchain"],
    ["GET", "/api/Blockchain"],
    ["GET", "/api/businesses"],
    ["GET", "/api/doesnotexist/"],
    ["GET", `/api/wallets/${stranger.address}/`],
    ["POST", "/api/blockchain"],
    ["POST", "/api/transactions/"],
    ["PUT", "/api/transactions"],
    ["DELETE", "/api/wallets"],
    ["OPTIONS", "/api/blockchain"],
  ])("answers 404 to %s %s", async (method, url) => {
    const answer = await fixture.app.inject({
      method: method as "GET",
      url,
      payload: method === "GET" ? "" : "{",
    });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toEqual(NOT_FOUND);
  });

  test("decodes segments after splitting", async () => {
    expect((await fixture.get("/api/%62lockchain")).statusCode).toBe(200);
    const answer = await fixture.get("/api/blocks/%zz");
    expect(answer.json()).toEqual({ statusCode: 400, error: "Bad Request", message: "Bad Request" });
  });

  test("redirects to the path without trailing slashes, if that one answers", async () => {
    const answer = await fixture.get("/api/v2/blocks//?limit=1&page=2", { host: "node.example:4003" });
    expect(answer.statusCode).toBe(301);
    expect(answer.headers.location).toBe("http://node.example:4003/api/v2/blocks?limit=1&page=2");
  });

  test("answers HEAD with the headers of GET", async () => {
    for (const url of ["/", "/api/blockchain", `/api/wallets/${alice.address}`, "/api/uniks"]) {
      const [head, get] = await Promise.all([fixture.app.inject({ method: "HEAD", url }), fixture.get(url)]);
      expect(head.statusCode).toBe(200);
      expect(head.body).toBe("");
      expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
      expect(head.headers["content-type"]).toBe(get.headers["content-type"]);
    }
    expect((await fixture.app.inject({ method: "HEAD", url: "/api/blocks/99" })).statusCode).toBe(404);
  });
});

describe("browsers", () => {
  const origin = "https://explorer.example.org";

  test("may read answers and errors", async () => {
    for (const url of [
      "/api/blockchain",
      `/api/wallets/${stranger.address}`,
      "/nothing",
      "/api/blocks?limit=0",
    ]) {
      const { headers } = await fixture.get(url, { origin });
      expect(headers["access-control-allow-origin"]).toBe(origin);
      expect(headers["access-control-allow-credentials"]).toBe("true");
      expect(headers).not.toHaveProperty("access-control-max-age");
    }
    expect((await fixture.get("/api/blockchain")).headers).not.toHaveProperty("access-control-allow-origin");
  });

  test("are granted what they ask for, whatever the path", async () => {
    for (const url of ["/api/blockchain", "/nothing"]) {
      const answer = await fixture.app.inject({
        method: "OPTIONS",
        url,
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type",
        },
      });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers).toMatchObject({
        "access-control-allow-origin": origin,
        "access-control-expose-headers": "content-type, content-length, etag",
        "access-control-max-age": "600",
        "access-control-allow-headers": "content-type",
        "access-control-allow-methods": "POST",
      });
    }
  });
});

describe("bodies", () => {
  const search = (payload: string, contentType?: string) =>
    fixture.app.inject({
      method: "POST",
      url: "/api/uniks/search",
      payload,
      headers: contentType === undefined ? {} : { "content-type": contentType },
    });

  test.each([
    undefined,
    "application/json",
    "application/json; charset=utf-8",
    "text/plain",
    "application/vnd.api+json",
  ])("are read as JSON when sent as %s", async (contentType) => {
    expect((await search('{"id":[]}', contentType)).json().validation.keys).toEqual(["id", "id"]);
    expect((await search("{}", contentType)).statusCode).toBe(200);
  });

  test("are read as a form when sent as one", async () => {
    const answer = await search("foo=5", "application/x-www-form-urlencoded");
    expect(answer.json().validation.keys).toEqual(["foo"]);
  });

  test.each([
    ["{", "application/json", "Invalid request payload JSON format"],
    ['{"__proto__":{}}', "application/json", "Invalid request payload JSON format"],
    ["<a/>", "text/xml", "Unsupported Media Type"],
    ["{}", "no media type", "Unsupported Media Type"],
    [
      `{"id":"${"1".repeat(1_048_576)}"}`,
      "application/json",
      "Payload content length greater than maximum allowed: 1048576",
    ],
  ])("that cannot be read are 422: %.20s as %s", async (payload, contentType, message) => {
    const answer = await search(payload, contentType);
    expect(answer.json()).toEqual({ statusCode: 422, error: "Unprocessable Entity", message });
  });

  test.each(["", "null", "[]", '"x"', "5"])("must be objects, which %j is not", async (payload) => {
    const answer = await fixture.app.inject({
      method: "POST",
      url: "/api/transactions",
      payload,
      headers: { "content-type": "application/json" },
    });
    expect(answer.statusCode).toBe(422);
  });
});

describe("compression", () => {
  test("is used for large answers when asked for", async () => {
    const url = "/api/transactions";
    const plain = await fixture.get(url);
    expect(plain.headers.vary).toBe("accept-encoding");
    for (const [encoding, decode] of [
      ["gzip", gunzipSync],
      ["deflate", inflateSync],
    ] as const) {
      const answer = await fixture.get(url, { "accept-encoding": encoding });
      expect(answer.headers["content-encoding"]).toBe(encoding);
      expect(decode(answer.rawPayload).toString()).toBe(plain.body);
    }
  });

  test("is not used for small answers", async () => {
    const { headers } = await fixture.get("/api/blockchain", { "accept-encoding": "gzip" });
    expect(headers).not.toHaveProperty("content-encoding");
    expect(headers).not.toHaveProperty("vary");
  });

  test.each([
    ["deflate, gzip;q=1.0, *;q=0.5", "gzip"],
    ["gzip;q=0, deflate", "deflate"],
    ["GZIP", "gzip"],
    ["identity", undefined],
    ["br", undefined],
    [undefined, undefined],
  ])("is chosen from %s", (header, encoding) => {
    expect(encodingFor(header)).toBe(encoding);
  });
});

describe("rate limit", () => {
  test("refuses what comes too often, until the window is over", async () => {
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
      message: "Rate limit exceeded",
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

  test("counts each address on its own, behind a proxy the first one it names", async () => {
    const limited = openFixture({ rateLimit: { limit: 1, windowMs: 1_000 }, trustProxy: true });
    const from = async (address: string) =>
      (await limited.get("/api/blockchain", { "x-forwarded-for": `${address}, 10.0.0.1` })).statusCode;
    expect([await from("192.0.2.1"), await from("192.0.2.2"), await from("192.0.2.1")]).toEqual([
      200, 200, 429,
    ]);
    await limited.close();
  });

  test("shows nothing on bodies that cannot be read, on redirects and on preflights", async () => {
    const limited = openFixture({ rateLimit: { limit: 10, windowMs: 1_000 } });
    const answers = await Promise.all([
      limited.app.inject({ method: "POST", url: "/api/uniks/search", payload: "{" }),
      limited.get("/api/blockchain/"),
      limited.app.inject({
        method: "OPTIONS",
        url: "/api/blockchain",
        headers: { origin: "https://a.example" },
      }),
    ]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([422, 301, 200]);
    for (const { headers } of answers) expect(headers).not.toHaveProperty("x-ratelimit-userlimit");
    await limited.close();
  });
});

describe("failures", () => {
  test("say nothing about the inside of the node", async () => {
    const lines: string[] = [];
    const { pino } = await import("pino");
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const broken = openFixture({}, { logger });
    broken.gateway.status = async () => {
      throw new Error("secret detail");
    };
    const answer = await broken.get("/api/node/status");
    expect(answer.json()).toEqual({
      statusCode: 500,
      error: "Internal Server Error",
      message: "An internal server error occurred",
    });
    expect(JSON.parse(lines[0]!)).toMatchObject({ msg: "request failed", route: "/api/node/status" });
    expect(lines[0]).toContain("secret detail");
    await broken.close();
  });

  test("are 503 when the node does not answer in time", async () => {
    const silent = openFixture({ answerTimeoutMs: 20 });
    silent.gateway.status = () => new Promise(() => {});
    const answer = await silent.get("/api/node/status");
    expect(answer.json()).toEqual({
      statusCode: 503,
      error: "Service Unavailable",
      message: "Service Unavailable",
    });
    await silent.close();
  });

  test("are 503 while there is no genesis block", async () => {
    const empty = openDatabase(":memory:");
    migrate(empty);
    const waiting = openFixture({}, { database: empty });
    const answer = await waiting.get("/api/blockchain");
    expect(answer.json()).toEqual({
      statusCode: 503,
      error: "Service Unavailable",
      message: "Service Unavailable",
    });
    await waiting.close();
    empty.close();
  });

  test("of a plugin keep their status", async () => {
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
      const answer = await plugged.get(`${prefix}/webhooks`);
      expect(answer.json()).toEqual({ statusCode: 401, error: "Unauthorized", message: "invalid token" });
    }
    await plugged.close();
  });
});

describe("sockets", () => {
  test("listens on a free port and closes with connections open", async () => {
    const listening = openFixture();
    const { port, address } = await listening.listen();
    expect(address).toBe("127.0.0.1");
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const answer = await fetch(`http://127.0.0.1:${port}/api/v2/blockchain`);
    expect(((await answer.json()) as { data: { block: object } }).data.block).toEqual({
      height: chain.blocks.length,
      id: chain.blocks.at(-1)!.header.id,
    });
    const closed = once(socket, "close");
    await listening.close();
    await closed;
  });

  test("a body larger than announced limits is refused while it is still being sent", async () => {
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

  test("reads one state per request while the chain goes on", async () => {
    const growing = openFixture();
    const writer = openDatabase(growing.path);
    const before = (await growing.get(`/api/wallets/${alice.address}`)).json();
    writer.transaction(() => {
      writer.execute("DELETE FROM blocks WHERE height = 4");
      writer.execute(`UPDATE wallets SET balance = 1 WHERE address = '${alice.address}'`);
    });
    const after = (await growing.get(`/api/wallets/${alice.address}`)).json();
    expect([before.chainmeta.height, after.chainmeta.height]).toEqual([4, 3]);
    expect(after.data.balance).toBe(1);
    expect((await growing.get("/api/blockchain")).json().data.block.height).toBe(3);
    writer.close();
    await growing.close();
  });
});
