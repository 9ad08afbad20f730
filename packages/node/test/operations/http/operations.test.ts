import { fastify } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import type { Server } from "../../../src/http/core/app.ts";
import { addFailures, addMethods } from "../../../src/http/server/failures.ts";
import { createAccess } from "../../../src/http/webhooks/access.ts";
import { createOperationRoutes, type Operations } from "../../../src/operations/http/server.ts";
import { silent } from "../../../test-support/webhooks/support.ts";

const OPERATIONS: Operations = {
  live: () => ({ ok: true, detail: "runs" }),
  ready: async () => ({ isReady: true, checks: {} }),
  status: async () => ({ version: "1" }),
  metrics: async () => "up 1\n",
  metricsType: "text/plain",
};

async function serve() {
  const app = fastify();
  onTestFinished(() => app.close());
  addFailures(app as unknown as Server, silent, addMethods(app as unknown as Server));
  app.register(createOperationRoutes(createAccess({ token: "secret" }), OPERATIONS));
  await app.ready();
  return (url: string, remoteAddress: string, headers = {}) => app.inject({ url, remoteAddress, headers });
}

test("A client gets the summary at most twice a second, and others are not affected.", async () => {
  const get = await serve();
  const statuses: number[] = [];
  for (let count = 0; count < 121; count++) {
    // One client can have any number of addresses.
    statuses.push((await get("/health/status", `2001:db8::${count.toString(16)}`)).statusCode);
  }
  expect(new Set(statuses.slice(0, 120))).toEqual(new Set([200]));
  expect(statuses[120]).toBe(429);
  const refused = await get("/metrics", "2001:db8::1", { authorization: "secret" });
  expect(refused.statusCode).toBe(429);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect((await get("/health/status", "2001:db8:0:1::1")).statusCode).toBe(200);
  expect((await get("/health/live", "2001:db8::1")).statusCode).toBe(200);
  expect((await get("/health/ready", "2001:db8::1")).statusCode).toBe(200);
});

test("Requests for metrics without the token do not reduce the rate limit of a scraper at the same address.", async () => {
  const get = await serve();
  for (let count = 0; count < 150; count++) {
    expect((await get("/metrics", "192.0.2.1")).statusCode).toBe(401);
  }
  expect((await get("/metrics", "192.0.2.1", { authorization: "secret" })).statusCode).toBe(200);
});
