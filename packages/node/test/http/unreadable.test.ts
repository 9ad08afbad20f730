/** Requests that never reach a route, written by hand. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openFixture } from "../../test-support/http/fixture.ts";

// A late body ends at the time limit of the request, not at that of the response.
const fixture = openFixture({ requestTimeoutMs: 300, responseTimeoutMs: 3_600_000 });
let port: number;
beforeAll(async () => {
  ({ port } = await fixture.listen());
});
afterAll(() => fixture.close());

/** Bytes received until the server ends the connection. */
async function exchange(request: string) {
  const socket = connect(port, "127.0.0.1");
  const received: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => received.push(chunk));
  socket.write(request, "latin1");
  await once(socket, "close");
  const text = Buffer.concat(received).toString("latin1");
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const [line = "", ...fields] = head.split("\r\n");
  const headers = Object.fromEntries(
    fields.map((field) => {
      const [name = "", value] = field.split(": ");
      return [name.toLowerCase(), value];
    }),
  );
  return { status: Number(line.split(" ")[1]), headers, body, text };
}

const LONG = "x".repeat(20_000);
const search = (fields: string, body: string) =>
  `POST /api/blocks/search HTTP/1.1\r\nHost: a\r\nOrigin: http://page\r\n${fields}\r\n\r\n${body}`;
const from = (line: string, more = "") => `${line} HTTP/1.1\r\nHost: a\r\nOrigin: http://page\r\n${more}\r\n`;

test.each([
  ["bytes that are not HTTP", 400, "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"],
  ["another version of HTTP", 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["an unknown method", 400, from("BREW /api/blockchain")],
  ["a space in the path", 400, from("GET /api/block chain")],
  ["a header without a name", 400, from("GET /api/blockchain", ": value\r\n")],
  ["a header with a zero", 400, from("GET /api/blockchain", "X: a\0b\r\n")],
  ["a length below zero", 400, search("Content-Length: -2", "{}")],
  ["two lengths", 400, search("Content-Length: 2\r\nContent-Length: 3", "{}")],
  [
    "a length beside chunks",
    400,
    search("Transfer-Encoding: chunked\r\nContent-Length: 2", "2\r\n{}\r\n0\r\n\r\n"),
  ],
  ["a chunk without a length", 400, search("Transfer-Encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n")],
  ["a long path", 431, from(`GET /api/blockchain?${LONG}`)],
  ["a long header", 431, from("GET /api/blockchain", `X: ${LONG}\r\n`)],
  ["many headers", 431, from("GET /api/blockchain", "A: b\r\n".repeat(4_000))],
  ["headers without an end", 408, "GET /api/blockchain HTTP/1.1\r\nHost: a\r\n"],
  ["a body without an end", 408, search("Content-Length: 100", "{")],
  ["a missing host", 400, "GET /api/blockchain HTTP/1.1\r\nOrigin: http://page\r\n\r\n"],
  ["an empty host", 400, "GET /api/blockchain HTTP/1.1\r\nHost:\r\n\r\n"],
  ["an empty host beside an absolute URL", 400, "GET http://a/api/blockchain HTTP/1.1\r\nHost: \r\n\r\n"],
  ["two hosts", 400, from("GET /api/blockchain", "Host: b\r\n")],
  ["the same host twice", 400, from("GET /api/blockchain", "hOST: a\r\n")],
  ["a second host after other headers", 400, from("GET /api/blockchain", "X: y\r\nHOST:\r\n")],
  ["no host beside an absolute URL", 400, "GET http://a/api/blockchain HTTP/1.1\r\n\r\n"],
  ["two hosts of HTTP 1.0", 400, "GET /api/blockchain HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"],
  ["two hosts and a body", 400, search("Host: b\r\nContent-Length: 2", "{}")],
  ["a tunnel", 404, from("CONNECT a:80")],
])("%s: %i, in the form of every failure", async (_what, statusCode, request) => {
  const { status, headers, body } = await exchange(request);
  expect(status).toBe(statusCode);
  expect(JSON.parse(body)).toEqual({
    statusCode,
    error: expect.any(String),
    message: expect.any(String),
  });
  expect(headers).toMatchObject({
    "access-control-allow-origin": expect.stringMatching(/^(\*|http:\/\/page)$/),
    "cache-control": "no-cache",
    connection: "close",
    "content-length": `${body.length}`,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "content-type": "application/json; charset=utf-8",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
});

test.each([
  ["HTTP 1.0", "GET /api/blockchain HTTP/1.0\r\n\r\n"],
  ["an absolute URL", from("GET http://a/api/blockchain", "Connection: close\r\n")],
  ["an unknown expectation", search("Expect: tea\r\nConnection: close\r\nContent-Length: 2", "{}")],
  [
    "another protocol on offer",
    from("GET /api/blockchain", "Connection: close, Upgrade\r\nUpgrade: h2c\r\n"),
  ],
  ["a preflight of a path that cannot be decoded", from("OPTIONS /api/%", "Connection: close\r\n")],
])("%s is a valid request", async (_what, request) => {
  const { status, headers } = await exchange(request);
  expect(status).toBe(200);
  expect(headers).toHaveProperty("x-content-type-options", "nosniff");
});

test.each([
  ["has no host", "GET /api/blockchain HTTP/1.1\r\n\r\n", 400],
  ["is not HTTP", "\x16\x03\x01\r\n\r\n", 400],
  ["has headers that are too long", from("GET /api/blockchain", `X: ${LONG}\r\n`), 431],
  ["has a body that is late", search("Content-Length: 100", "{"), 408],
  ["asks for a tunnel", from("CONNECT a:80"), 404],
])(
  "The failure of a pipelined request that %s follows the earlier responses.",
  async (_what, last, status) => {
    const { text } = await exchange(from("GET /api/openapi.json") + from("GET /api/blockchain") + last);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, found]) => Number(found));
    expect(statuses).toEqual([200, 200, status]);
  },
);

test("A request after one with two hosts on its connection is not processed.", async () => {
  const { status, body } = await exchange(
    from("GET /api/blockchain", "Host: b\r\n") + from("GET /api/blocks"),
  );
  expect([status, body.match(/HTTP\/1\.1 \d/g)]).toEqual([400, null]);
});

test("A client that resets the connection of a refused tunnel does not stop the server.", async () => {
  for (let attempts = 0; attempts < 200; attempts++) {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    await new Promise((resolve) => socket.write(from("CONNECT a:80"), resolve));
    socket.resetAndDestroy();
  }
  expect((await exchange(from("GET /api/blockchain", "Connection: close\r\n"))).status).toBe(200);
});
