/** The routes of the gateway for other machines: access, bounds, and the gateway of a running node. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { NodeStatus } from "../../src/gateway/gateway.ts";
import { DEFAULT_HTTP_GATEWAY_OPTIONS, HttpGateway } from "../../src/gateway/http.ts";
import type { Node } from "../../src/processes/node/node.ts";
import { makeFolder, serveFolder } from "../../test-support/facts/served.ts";
import { serveGateway, TOKEN } from "../../test-support/gateway/remote.ts";
import { createGateway } from "../../test-support/http/fixture.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

type Request = {
  readonly body?: object;
  readonly query?: string;
  readonly token?: string;
  readonly ip?: string;
};

/** Sends a call as another machine would. */
function callOf(app: Awaited<ReturnType<typeof serveGateway>>["app"]) {
  return async (
    method: string,
    { body = {}, query = `timeoutMs=${WAIT_MS}`, token = TOKEN, ip = "127.0.0.1" }: Request = {},
  ) => {
    const response = await app.inject({
      method: "POST",
      url: `/api/internal/gateway/${method}?${query}`,
      headers: { authorization: token },
      payload: body,
      remoteAddress: ip,
    });
    return [response.statusCode, response.headers["error-code"]];
  };
}

test("Only clients with the token, at addresses of the list, may call the gateway.", async () => {
  const call = callOf((await serveGateway(createGateway())).app);
  expect(await call("status")).toEqual([200, undefined]);
  expect(await call("status", { token: "wrong" })).toEqual([401, "TOKEN_WRONG"]);
  expect(await call("status", { ip: "127.0.0.2" })).toEqual([403, "ADDRESS_REFUSED"]);
});

test("Only the methods for other machines exist.", async () => {
  const call = callOf((await serveGateway(createGateway())).app);
  for (const method of ["figures", "webhooksChanged", "streamsChanged", "constructor", "__proto__"]) {
    expect(await call(method), method).toEqual([404, "PATH_UNKNOWN"]);
  }
});

const id = "ab".repeat(32);

const REFUSED: readonly (readonly [method: string, body: object])[] = [
  ["submit", {}],
  ["submit", { transactions: {} }],
  ["submit", { transactions: Array(1_001).fill({}) }],
  ["submit", { transactions: [], other: 1 }],
  ["pendingTransactions", { offset: 0 }],
  ["pendingTransactions", { offset: -1, limit: 1 }],
  ["pendingTransactions", { offset: 0, limit: 101 }],
  ["pendingTransactions", { offset: 0, limit: 1, afterId: "x".repeat(2_049) }],
  ["pendingTransaction", { id: 1 }],
  ["pendingTransaction", { id: "x".repeat(65) }],
  ["status", { other: 1 }],
  ["replaceRemoteNames", {}],
  ["replaceRemoteNames", { names: ["block.applied", "block.applied"] }],
  ["replaceRemoteNames", { names: ["block.*"] }],
  ["dev", {}],
  ["dev", { name: "other" }],
  ["dev", { name: "mine", blocks: 1_001 }],
  ["dev", { name: "mine", blocks: 1, depth: 1 }],
  ["dev", { name: "restore", id: "x" }],
  ["dev", { name: "travel" }],
  ["dev", { name: "reorg", depth: 1, withTransactions: true, leftOut: Array(501).fill(id) }],
];

test("Parameters beyond their bounds are refused.", async () => {
  const { app, figures } = await serveGateway(createGateway());
  for (const [method, body] of REFUSED) {
    const [status] = await callOf(app)(method, { body });
    expect(status, `${method} ${JSON.stringify(body).slice(0, 200)}`).toBe(422);
  }
  expect(figures()).toEqual({ open: 0, refused: 0, late: 0 });
});

test("A call needs its time, and nothing but its source besides.", async () => {
  const call = callOf((await serveGateway(createGateway())).app);
  const long = `timeoutMs=1&source=${"x".repeat(65)}`;
  for (const query of ["", "timeoutMs=x", "timeoutMs=-1", long, "timeoutMs=1&x=1"]) {
    expect((await call("status", { query }))[0], query).toBe(422);
  }
});

test("A body is not deeper or longer than that of a client's submission may be.", async () => {
  const call = callOf((await serveGateway(createGateway())).app);
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  const submit = (...transactions: unknown[]) => call("submit", { body: { transactions } });
  expect(await submit(nested(62))).toEqual([200, undefined]);
  expect(await submit(nested(63))).toEqual([422, "BODY_TOO_COMPLEX"]);
  expect(await submit("x".repeat(4_194_000))).toEqual([200, undefined]);
  expect(await submit("x".repeat(4_194_304))).toEqual([422, "BODY_TOO_LARGE"]);
});

test("A call whose time is over is not executed.", async () => {
  const node = createGateway();
  const { app, figures } = await serveGateway(node);
  const body = { transactions: [{}] };
  expect(await callOf(app)("submit", { body, query: "timeoutMs=0" })).toEqual([503, "GATEWAY_LATE"]);
  expect(node.submitted).toEqual([]);
  expect(figures()).toEqual({ open: 0, refused: 0, late: 1 });
});

test("Calls beyond the maximum are refused.", async () => {
  const status = Promise.withResolvers<NodeStatus>();
  const served = { ...createGateway(), status: () => status.promise };
  const { app, figures } = await serveGateway(served, { maxCalls: 2 });
  const call = callOf(app);
  const calls = [call("status"), call("status")];
  await expect.poll(figures).toEqual({ open: 2, refused: 0, late: 0 });
  expect(await call("peers")).toEqual([503, "GATEWAY_FULL"]);
  status.resolve(await createGateway().status());
  expect(await Promise.all(calls)).toEqual([
    [200, undefined],
    [200, undefined],
  ]);
  expect(await call("peers")).toEqual([200, undefined]);
  expect(figures()).toEqual({ open: 0, refused: 1, late: 0 });
});

let folder: string;
let node: Node;

beforeAll(async () => {
  folder = await makeFolder();
  node = await serveFolder(folder, { feedBlocks: 100 });
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true });
});

function connect() {
  const opened = new HttpGateway(
    { ...DEFAULT_HTTP_GATEWAY_OPTIONS, token: node.webhookToken, urls: [node.url] },
    { onChange: () => {} },
  );
  onTestFinished(() => opened.close());
  return opened.gateway;
}

test("A running node executes the calls.", async () => {
  const gateway = connect();
  const { height } = node.head();
  expect(await gateway.status()).toMatchObject({ now: height, synced: true });
  expect(await gateway.report()).toMatchObject({ height, poolSize: 0 });
  expect(await gateway.peers()).toEqual([]);
  expect(await gateway.pendingTransactions({ offset: 0, limit: 100 })).toEqual({
    transactions: [],
    offset: 0,
    totalCount: 0,
  });
  expect(await gateway.pendingTransaction(id)).toBeUndefined();
  const names = ["block.applied", "transaction.applied"];
  expect(await gateway.replaceRemoteNames(names)).toEqual({ lastSequence: expect.any(Number) });
  expect(await gateway.replaceRemoteNames([])).toEqual({ lastSequence: expect.any(Number) });
  await expect(gateway.submit([])).rejects.toMatchObject({ code: "BODY_SCHEMA" });
  await expect(gateway.dev({ name: "snapshot" })).rejects.toMatchObject({ code: "DEV_ONLY" });
});

test("The node counts the calls of other machines.", async () => {
  const url = `${node.url}/metrics`;
  const response = await fetch(url, { headers: { authorization: node.webhookToken } });
  expect(await response.text()).toMatch(/^uniknode_gateway_calls 0$/m);
});

test("A node without a feed has no gateway.", async () => {
  const data = await makeFolder(3);
  const other = await serveFolder(data);
  const response = await fetch(`${other.url}/api/internal/gateway/status?timeoutMs=1000`, { method: "POST" });
  expect(response.status).toBe(404);
  await other.stop();
  rmSync(data, { recursive: true });
});
