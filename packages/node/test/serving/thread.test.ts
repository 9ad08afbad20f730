import { dalinet } from "@uniknode/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DEFAULT_POOL_OPTIONS } from "../../src/pool/pool.ts";
import {
  loadServingThread,
  type Serving,
  type ServingData,
  type ServingThread,
} from "../../src/serving/thread.ts";
import { PUBLIC_TARGETS } from "../../src/webhooks/delivery/guard.ts";
import { createGateway, type Fixture, identity, openFixture } from "../http/fixture.ts";

let fixture: Fixture;
let thread: ServingThread;
let serving: Serving;
beforeEach(() => {
  fixture = openFixture();
  thread = loadServingThread();
});
afterEach(async () => {
  await thread.close();
  await fixture.close();
});

async function serve(options: Partial<ServingData>): Promise<(path: string) => Promise<Response>> {
  const data: ServingData = {
    databasePath: fixture.path,
    files: dalinet,
    genesisBlock: identity.genesisBlock,
    host: "127.0.0.1",
    port: 0,
    webhookToken: "secret",
    eventsPublic: false,
    targets: { ...PUBLIC_TARGETS, allowPrivateTargets: true },
    deliveries: { timeoutMs: 10_000, retryPausesMs: [] },
    feePolicy: DEFAULT_POOL_OPTIONS.fees,
    logLevel: "silent",
    ...options,
  };
  serving = await thread.start(data, createGateway());
  return (path) => fetch(`${serving.url}${path}`);
}

test("limits the requests of an address to so many per minute", async () => {
  const get = await serve({ rateLimit: 2 });
  const answers = [await get("/api/blockchain"), await get("/api/blockchain"), await get("/api/blockchain")];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers[0]!.headers.get("x-ratelimit-userlimit")).toBe("2");
});

test("counts nothing without a limit", async () => {
  const get = await serve({ rateLimit: 0 });
  const { status, headers } = await get("/api/blockchain");
  expect(status).toBe(200);
  expect(headers.get("x-ratelimit-userlimit")).toBeNull();
});

test("goes when nobody starts it", async () => {
  await expect(thread.close()).resolves.toBeUndefined();
});

test("says why it cannot listen", async () => {
  await expect(serve({ host: "192.0.2.1" })).rejects.toThrow("192.0.2.1 is no address of this machine");
});
