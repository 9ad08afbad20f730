import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@uniknode/client";
import { dalinet } from "@uniknode/protocol";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { runOptions } from "../../../src/config/options.ts";
import { resolveConfig } from "../../../src/config/resolve.ts";
import { webhookRoutes } from "../../../src/http/documentation/webhooks.ts";
import { beat, createHeartbeats } from "../../../src/platform/lifecycle/event-loop.ts";
import { present } from "../../../src/platform/present.ts";
import { DEFAULT_POOL_OPTIONS } from "../../../src/pool/pool-options.ts";
import { pickServingOptions } from "../../../src/processes/serving/served-data.ts";
import { type Serving, type ServingData, ServingThread } from "../../../src/processes/serving/thread.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { createWriteLockMemory, createWriteState } from "../../../src/store/engine/writes.ts";
import { EventLog } from "../../../src/store/events/event-log.ts";
import { CHECKPOINT_KEY } from "../../../test-support/facts/key.ts";
import { createGateway, type Fixture, identity, openFixture } from "../../../test-support/http/fixture.ts";
import { occupy, statusFrom } from "../../../test-support/http/sockets.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";
import { createWebhookStore } from "../../../test-support/webhooks/sqlite-register.ts";

let fixture: Fixture;
let thread: ServingThread;
let serving: Serving;
/** The thread of the tests takes the place of consensus. */
const heartbeats = createHeartbeats();
let heart: ReturnType<typeof beat>;
beforeEach(() => {
  fixture = openFixture();
  thread = new ServingThread();
  heart = beat(heartbeats, "consensus");
});
afterEach(async () => {
  heart.close();
  await thread.close();
  await fixture.close();
});

type Get = (path: string, headers?: Record<string, string>) => Promise<Response>;

const FLAGS = {
  httpPort: 0,
  rateLimit: 0,
  metricsPublic: true,
  webhookPrivateTargets: true,
  logLevel: "silent",
  logFormat: "json",
};

async function serve(options: Partial<ServingData>): Promise<Get> {
  const data: ServingData = {
    ...pickServingOptions(resolveConfig(runOptions, { flags: FLAGS, environment: {} })),
    databasePath: fixture.path,
    writeLock: createWriteLockMemory(),
    writeState: createWriteState(),
    heartbeats,
    files: dalinet,
    genesisBlock: identity.genesisBlock,
    webhookToken: "secret",
    checkpointKey: CHECKPOINT_KEY,
    feePolicy: DEFAULT_POOL_OPTIONS.fees,
    peerPort: 4002,
    isDevChain: false,
    isOnDemand: false,
    ...options,
  };
  serving = await thread.start(data, createGateway());
  return (path, headers = {}) => fetch(`${serving.url}${path}`, { headers });
}

test("The serving thread returns the ports of its listeners, and that of the peers.", async () => {
  const get = await serve({ peerPort: 4004 });
  const port = Number(new URL(serving.url).port);
  const { data } = (await (await get("/api/node/configuration")).json()) as { data: { ports: object } };
  expect(data.ports).toEqual({
    "@arkecosystem/core-p2p": 4004,
    "@arkecosystem/core-api": port,
    "@arkecosystem/core-webhooks": port,
  });
});

test("The serving thread limits the requests of an address per minute.", async () => {
  const get = await serve({ rateLimit: 2 });
  const responses = [
    await get("/api/blockchain"),
    await get("/api/blockchain"),
    await get("/api/blockchain"),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(present(responses[0]).headers.get("x-ratelimit-userlimit")).toBe("2");
});

test("The serving thread has no rate limit without the option.", async () => {
  const get = await serve({ rateLimit: 0 });
  const { status, headers } = await get("/api/blockchain");
  expect(status).toBe(200);
  expect(headers.get("x-ratelimit-userlimit")).toBeNull();
});

test("The serving thread ends if it is not started.", async () => {
  await expect(thread.close()).resolves.toBeUndefined();
});

test("The serving thread names the reason why it cannot listen.", async () => {
  await expect(serve({ httpHost: "192.0.2.1" })).rejects.toThrow(
    "192.0.2.1 is not an address of this machine",
  );
});

test("The serving thread notifies observers of the node about its state.", async () => {
  const get = await serve({ rateLimit: 1 });
  const live = await get("/health/live");
  expect([live.status, await live.json()]).toEqual([200, { status: "live" }]);
  const ready = await get("/health/ready");
  expect([ready.status, await ready.json()]).toMatchObject([
    200,
    { status: "ready", checks: { consensus: { ok: true }, matcher: { ok: true }, dispatcher: { ok: true } } },
  ]);
  const status = await get("/health/status");
  expect(await status.json()).toMatchObject({
    isReady: true,
    node: { synced: true },
    webhooks: { active: 0, queues: { waiting: 0 } },
    streams: { open: 0 },
  });
  expect((await get("/api/blockchain")).status).toBe(200);
  expect((await get("/api/blockchain")).status).toBe(429);
  const metrics = await get("/metrics");
  expect(metrics.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  const text = await metrics.text();
  expect(text).toContain('uniknode_http_requests_total{method="GET",route="/api/blockchain",status="200"} 1');
  expect(text).toContain("uniknode_forger_blocks_forged_total 7");
  expect(text).toMatch(/uniknode_event_loop_delay_seconds\{thread="serving",statistic="max"\} \d/);
});

test("The serving thread shows metrics to clients with the token, unless they are public.", async () => {
  const get = await serve({ metricsPublic: false });
  expect((await get("/metrics")).status).toBe(401);
  expect((await get("/metrics", { authorization: "Bearer secret" })).status).toBe(200);
  expect((await get("/health/ready")).status).toBe(200);
});

test("A disabled webhook service has no routes, sends no request, and retains no event.", async () => {
  const database = openDatabase(fixture.path);
  onTestFinished(database.close);
  const { insert, activate } = createWebhookStore(database);
  const events = new EventLog(database, { recordedNames: () => new Set(["block.applied"]) });
  events.moveCursor("webhooks", 0);
  const { target, calls } = await listen();
  const fields = { event: "block.applied", events: [], target, enabled: true, conditions: "[]" } as const;
  const { id } = insert(
    { ...fields, match: "any", order: "parallel", confirmations: 0, proof: false },
    "ab".repeat(32),
  );
  activate(id, 0);
  database.transaction(() => events.append([{ id: "one", name: "block.applied", data: {} }]));

  await serve({ webhooks: "off" });
  for (const route of Object.keys(webhookRoutes)) {
    const [method, path] = route.split(" ") as [string, string];
    for (const prefix of ["/api", "/api/v2"]) {
      const url = `${serving.url}${prefix}${path.replace(":id", "1").replace(":delivery", "1")}`;
      const body = method === "POST" || method === "PUT" ? "{}" : null;
      const headers = { authorization: "secret", ...(body && { "content-type": "application/json" }) };
      const response = await fetch(url, { method, headers, body });
      expect([route, response.status]).toEqual([route, 404]);
    }
  }
  const get: Get = (path, headers = {}) => fetch(`${serving.url}${path}`, { headers });
  const { data } = (await (await get("/api/node/configuration")).json()) as { data: { ports: object } };
  expect(data.ports).not.toHaveProperty("@arkecosystem/core-webhooks");
  const health = (await (await get("/health/ready")).json()) as { status: string; checks: object };
  expect([health.status, Object.keys(health.checks)]).toEqual(["ready", ["consensus", "disk", "chain"]]);
  expect((await get("/metrics")).status).toBe(200);
  expect((await get("/api/events?events=block.applied")).status).toBe(401);
  expect(events.cursor("webhooks")).toBeUndefined();

  // After they are enabled, later events are delivered; the earlier event is lost for webhooks.
  await thread.close();
  thread = new ServingThread();
  await serve({ webhooks: "on" });
  database.transaction(() => events.append([{ id: "two", name: "block.applied", data: { height: 2 } }]));
  thread.notify();
  await expect.poll(() => calls.map(({ data }) => data)).toEqual([{ height: 2 }]);
});

/** Target that records its deliveries. */
async function listen() {
  const calls: { data: unknown }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    calls.push(JSON.parse(body));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { calls, target: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

describe("under 2,000 half-open and 2,000 idle connections", () => {
  const attack = async (port: number) => {
    const beginnings = ["GET /api/blockchain HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"];
    for (const [index, send] of beginnings.entries()) {
      const { close } = await occupy(port, { from: `127.0.1.${index}`, count: 2_000, send });
      onTestFinished(close);
    }
    const body = "POST /api/blocks/search HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{";
    const { close } = await occupy(port, { from: "127.0.1.2", count: 200, send: body });
    onTestFinished(close);
  };

  test("Health responds under 2,000 half-open and 2,000 idle connections.", async () => {
    await serve({});
    await attack(present(thread.port()));
    expect(await statusFrom("127.0.0.2", present(thread.port()), "/health/live")).toMatchObject({
      status: 200,
    });
    const page = await (await fetch(`${serving.url}/metrics`)).text();
    const refused = /^uniknode_http_connections_refused_total\{listener="api",reason="client"\} (\d+)$/m;
    expect(Number(refused.exec(page)?.[1])).toBeGreaterThan(0);
  });

  test("Health and metrics respond on their own listener under 2,000 half-open and 2,000 idle connections.", async () => {
    await serve({ operationsPort: 0 });
    await attack(present(thread.port()));
    const port = Number(new URL(serving.operationsUrl).port);
    expect(port).not.toBe(present(thread.port()));
    for (const path of ["/health/live", "/health/ready", "/health/status", "/metrics"]) {
      expect([path, await statusFrom("127.0.0.1", port, path)]).toMatchObject([path, { status: 200 }]);
    }
  });
});

test("The serving thread shows operators the node, its figures and its options.", async () => {
  const get = await serve({
    forgers: ["02".padEnd(66, "a")],
    shownOptions: [{ option: "httpPort", value: 4_003, origin: "argument", source: "--http-port" }],
  });
  const { operations } = createClient({ url: serving.url, webhookToken: "secret", timeoutMs: WAIT_MS });
  expect((await operations.node()).data).toMatchObject({
    ready: true,
    chain: { synced: true },
    forger: { delegates: [{ publicKey: "02".padEnd(66, "a") }], slots: { forged: 7 }, lastMissed: [] },
    disk: { failedWrites: 0 },
  });
  await expect.poll(async () => (await operations.series()).data.times.length).toBeGreaterThan(0);
  const { height, residentBytes } = (await operations.series()).data.figures;
  expect(present(height)[0]).toBeGreaterThan(0);
  expect(present(residentBytes)[0]).toBeGreaterThan(0);
  expect((await operations.options()).data).toEqual([
    { option: "httpPort", value: 4_003, origin: "argument", source: "--http-port" },
  ]);
  expect((await get("/api/operations/options")).status).toBe(401);
});

test("The serving thread serves health and metrics on one listener, and nothing else there.", async () => {
  const get = await serve({ operationsPort: 0, metricsPublic: false });
  for (const path of ["/health/live", "/health/ready", "/health/status", "/metrics"]) {
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  }
  const ask = async (path: string, headers = {}) =>
    (await fetch(`${serving.operationsUrl}${path}`, { headers })).status;
  expect(await ask("/health/live")).toBe(200);
  expect(await ask("/metrics")).toBe(401);
  expect(await ask("/metrics", { authorization: "secret" })).toBe(200);
  expect(await ask("/api/blockchain")).toBe(404);
});

test("The serving thread names the listener whose port is taken.", async () => {
  const taken = fixture;
  const { port } = await taken.listen();
  await expect(serve({ operationsPort: port })).rejects.toThrow(
    `port ${port} of 127.0.0.1 is in use; choose another with --operations-port`,
  );
});
