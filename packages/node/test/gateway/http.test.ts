import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import type { Gateway } from "../../src/gateway/gateway.ts";
import {
  DEFAULT_HTTP_GATEWAY_OPTIONS,
  HttpGateway,
  type HttpGatewayOptions,
} from "../../src/gateway/http.ts";
import { DEFAULT_REMOTE_CALL_OPTIONS } from "../../src/gateway/remote-processes.ts";
import { CallError } from "../../src/platform/threads/call.ts";
import { serveGateway, serveOther, TOKEN } from "../../test-support/gateway/remote.ts";
import { createGateway, openFixture } from "../../test-support/http/fixture.ts";
import { freePort } from "../../test-support/peers/world.ts";
import { describeGateway } from "./suite.ts";

function connect(urls: readonly string[], options: Partial<HttpGatewayOptions> = {}) {
  const changes: [url: string, reason?: string][] = [];
  const opened = new HttpGateway(
    { ...DEFAULT_HTTP_GATEWAY_OPTIONS, token: TOKEN, urls, ...options },
    { onChange: (url, reason) => changes.push(reason === undefined ? [url] : [url, reason]) },
  );
  const close = () => opened.close();
  onTestFinished(close);
  return {
    gateway: opened.gateway,
    within: (ms: number) => opened.within(ms),
    figures: () => opened.figures(),
    close,
    changes,
  };
}

describeGateway("over HTTP", async (served, options) => {
  const { url } = await serveGateway(served);
  return connect([url], options);
});

const timeouts = (submit: number) => ({
  timeoutsMs: { ...DEFAULT_HTTP_GATEWAY_OPTIONS.timeoutsMs, submit, status: submit },
});
const ENDLESS: RequestListener = () => {};
const STATUS = await createGateway().status();

/** A node that counts its submissions. */
async function serveCounting(overrides: Partial<Gateway> = {}) {
  const served = { ...createGateway(), ...overrides };
  return { ...(await serveGateway(served)), submitted: served.submitted };
}

/** An address that refuses connections. */
const closedUrl = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

test("The first node gets all calls while it responds.", async () => {
  const [first, second] = [await serveCounting(), await serveCounting()];
  const { gateway, changes } = connect([first.url, second.url]);
  await Promise.all(Array.from({ length: 5 }, () => gateway.submit([{}])));
  expect([first.submitted.length, second.submitted.length]).toEqual([5, 0]);
  expect(changes).toEqual([]);
});

test("A node that is down is skipped, paused, and preferred again once it is back.", async () => {
  const down = await closedUrl();
  const second = await serveCounting();
  const { gateway, changes } = connect([down, second.url], { pauseMs: 50 });
  await gateway.submit([{}]);
  expect(await gateway.status()).toEqual(STATUS);
  expect(second.submitted).toHaveLength(1);
  expect(changes).toEqual([[down, expect.stringContaining("ECONNREFUSED")]]);

  const served = { ...createGateway(), status: async () => ({ ...STATUS, now: 99 }) };
  await serveGateway(served, { ...DEFAULT_REMOTE_CALL_OPTIONS, port: Number(new URL(down).port) });
  await expect.poll(() => gateway.status()).toMatchObject({ now: 99 });
  expect(changes.at(-1)).toEqual([down]);
});

test("Paused nodes are called if all others fail.", async () => {
  const first = await serveCounting();
  const second = await serveCounting();
  const { gateway } = connect([first.url, second.url], { pauseMs: 60_000, connectTimeoutMs: 200 });
  const { submitted } = first;
  await first.close();
  await gateway.submit([{}]);
  expect([submitted.length, second.submitted.length]).toEqual([0, 1]);
  await second.close();
  await expect(gateway.submit([{}])).rejects.toMatchObject({
    code: "CALL_UNREACHABLE",
    isRetryable: true,
    message: expect.stringMatching(/^no node executed the call in time: .*ECONNREFUSED.*; .*ECONNREFUSED/),
  });
});

test("A call with less time ends earlier than others.", async () => {
  const silent = await serveOther(ENDLESS);
  const { within } = connect([silent.url], timeouts(600_000));
  await expect(within(50).status()).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
});

test("A query is repeated at the next node when one does not respond.", async () => {
  const silent = await serveOther(ENDLESS);
  const { url } = await serveGateway(createGateway());
  const { gateway, changes } = connect([silent.url, url], timeouts(10_000));
  expect(await gateway.status()).toEqual(STATUS);
  expect(changes).toEqual([[silent.url, expect.stringContaining("did not respond within")]]);
});

test.each<[string, string, RequestListener]>([
  ["does not respond", "CALL_TIMEOUT", ENDLESS],
  ["closes the connection", "CALL_LOST", ({ socket }) => void socket.destroy()],
  [
    "closes the connection within its response",
    "CALL_LOST",
    (_, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("{");
      setImmediate(() => response.destroy());
    },
  ],
  ["sends an internal error", "CALL_LOST", (_, response) => void response.writeHead(500).end("{}")],
  [
    "has the deadline of its server pass",
    "CALL_LOST",
    (_, response) => void response.writeHead(503, { "error-code": "RESPONSE_LATE" }).end("{}"),
  ],
  ["sends no JSON", "CALL_LOST", (_, response) => void response.end("<html>")],
  ["sends other JSON", "CALL_LOST", (_, response) => void response.end("[]")],
  ["sends an error without a message", "CALL_LOST", (_, response) => void response.end('{"error":{}}')],
  [
    "sends JSON that is nested too deeply",
    "CALL_LOST",
    (_, response) => void response.end("[".repeat(10_000)),
  ],
  ["sends too much", "CALL_LOST", (_, response) => void response.end(`{"value":"${"x".repeat(2_000)}"}`)],
])("A submission is not repeated when a node %s: it may have been accepted.", async (_, code, handle) => {
  const bodies: string[] = [];
  const other = await serveOther(async (request, response) => {
    bodies.push(await text(request));
    handle(request, response);
  });
  const second = await serveCounting();
  const { gateway, changes } = connect([other.url, second.url], {
    ...timeouts(handle === ENDLESS ? 1_000 : 10_000),
    maxResponseLength: 1_000,
  });
  await expect(gateway.submit([{ id: "1" }])).rejects.toMatchObject({
    code,
    isRetryable: true,
  });
  expect(bodies).toEqual(['{"transactions":[{"id":"1"}]}']);
  expect(second.submitted).toEqual([]);
  // The client decides whether to repeat it; the failed node is paused.
  await expect.poll(() => changes.length).toBe(1);
  await gateway.submit([{ id: "1" }]);
  expect(second.submitted).toEqual([[{ id: "1" }]]);
});

test.each<[string, number, Record<string, string>, string]>([
  ["another token", 401, {}, "uniknode token"],
  ["another address", 403, {}, "--feed-allow"],
  ["no gateway", 404, {}, "--feed-blocks"],
  ["a redirect", 307, { location: "/" }, "responded 307"],
  ["too many calls", 503, { "error-code": "GATEWAY_FULL" }, "responded 503"],
  ["a call that arrived late", 503, { "error-code": "GATEWAY_LATE" }, "responded 503"],
])(
  "A submission goes to the next node when one refuses it because of %s.",
  async (_, status, headers, reason) => {
    const other = await serveOther((request, response) => {
      request.resume();
      response.writeHead(status, headers).end('{"message":"\u001b[2J"}');
    });
    const second = await serveCounting();
    const { gateway, changes } = connect([other.url, second.url]);
    await gateway.submit([{}]);
    expect(second.submitted).toHaveLength(1);
    expect(changes).toEqual([[other.url, expect.stringContaining(reason)]]);
    expect(changes[0]?.[1]).not.toContain("\u001b");
  },
);

test("A call that the only node received late has timed out: the node is busy, not unreachable.", async () => {
  const other = await serveOther((request, response) => {
    request.resume();
    response.writeHead(503, { "error-code": "GATEWAY_LATE" }).end("{}");
  });
  const { gateway } = connect([other.url]);
  await expect(gateway.submit([{}])).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
});

test("An error of the node ends the call: the next node is not called.", async () => {
  const busy = Object.assign(new Error("busy"), { code: "POOL_BUSY" });
  const first = await serveCounting({ submit: () => Promise.reject(busy) });
  const second = await serveCounting();
  const { gateway } = connect([first.url, second.url]);
  await expect(gateway.submit([{}])).rejects.toMatchObject({ code: "POOL_BUSY" });
  expect(second.submitted).toEqual([]);
});

test.each([
  ["CALL_REFUSED", 1, 1],
  ["CALL_CLOSED", 0, 1],
  ["CALL_TIMEOUT", 0, 1],
])(
  "A node whose consensus thread fails with %s does not end a query, and a submission if it may be executed.",
  async (code, submissions, queries) => {
    const fail = () => Promise.reject(Object.assign(new Error("failed"), { code }));
    const first = await serveCounting({ submit: fail, status: fail });
    let asked = 0;
    const second = await serveCounting({
      status: async () => {
        asked += 1;
        return STATUS;
      },
    });
    const open = () => connect([first.url, second.url]).gateway;
    await open()
      .submit([{}])
      .catch((error: unknown) => expect(error).toBeInstanceOf(CallError));
    expect(second.submitted).toHaveLength(submissions);
    expect(await open().status()).toEqual(STATUS);
    expect(asked).toBe(queries);
  },
);

test("Calls share a bounded number of connections, which stay open.", async () => {
  const requests: (() => void)[] = [];
  const other = await serveOther((request, response) => {
    request.resume();
    requests.push(() => response.end('{"value":null}'));
  });
  const { gateway } = connect([other.url], { maxConnections: 3 });
  const calls = Promise.all(Array.from({ length: 8 }, () => gateway.peers()));
  let ended = 0;
  while (ended < 8) {
    await expect.poll(() => requests.length).toBe(Math.min(3, 8 - ended));
    ended += requests.length;
    for (const end of requests.splice(0)) end();
  }
  await calls;
  expect(other.connections()).toBe(3);
});

test("A call that gets no connection in time is not sent.", async () => {
  const bodies: string[] = [];
  const other = await serveOther(async (request) => void bodies.push(await text(request)));
  const { gateway, figures } = connect([other.url], { ...timeouts(500), maxConnections: 1 });
  const results = await Promise.allSettled([gateway.status(), gateway.submit([{}])]);
  expect(results).toMatchObject([{ reason: { code: "CALL_TIMEOUT" } }, { reason: { code: "CALL_TIMEOUT" } }]);
  await expect.poll(() => figures().open).toBe(0);
  expect(bodies).toEqual(["{}"]);
});

test("Clients of a server get 503 while it is unknown whether a submission was accepted, and may repeat it.", async () => {
  let isBroken = true;
  const node = createGateway();
  const remote = await serveGateway(node);
  const proxy = await serveOther(async (request, response) => {
    const body = await text(request);
    const { authorization = "" } = request.headers;
    const forwarded = await fetch(remote.url + request.url, {
      method: "POST",
      body,
      headers: { authorization, "content-type": "application/json" },
    });
    if (isBroken) return void response.destroy();
    response.end(await forwarded.text());
  });
  const { gateway } = connect([proxy.url], { pauseMs: 0 });
  const { post, close } = openFixture({}, { gateway });
  onTestFinished(close);
  const submit = () => post("/api/transactions", { transactions: [{ id: "1" }] });

  const unknown = await submit();
  expect([unknown.statusCode, unknown.headers["error-code"]]).toEqual([503, "NODE_BUSY"]);
  expect(unknown.headers["retry-after"]).toBe("10");
  expect(node.submitted).toHaveLength(1);
  isBroken = false;
  const repeated = await submit();
  // The result of the node, which knows whether it has the transaction.
  expect([repeated.statusCode, repeated.json()]).toEqual([200, await node.submit([{ id: "1" }])]);
});

test("Clients of a server learn that no node responds, but not which ones.", async () => {
  const gone = await serveGateway(createGateway());
  await gone.close();
  const { gateway } = connect([gone.url]);
  const { get, post, close } = openFixture({}, { gateway });
  onTestFinished(close);
  for (const response of [
    await get("/api/transactions/unconfirmed"),
    await post("/api/transactions", { transactions: [{ id: "1" }] }),
  ]) {
    expect([response.statusCode, response.headers["error-code"]]).toEqual([503, "NODE_UNREACHABLE"]);
    expect(response.json().message).toBe("Service Unavailable: no node responds; retry in 10 s");
  }
});
