/** Requests that are too slow for the serving thread. */

import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { dalinet } from "@uniknode/protocol";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { LATE } from "../../src/http/connections/bounds.ts";
import { SlowQueryThread } from "../../src/processes/serving/slow-queries/thread.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { chain, cold, dave } from "../../test-support/http/chain.ts";
import { type Fixture, identity, openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";

const files = {
  ...dalinet,
  network: chain.network.description,
  milestones: [...chain.network.milestones],
};

let plain: Fixture | undefined;
let hurried: Fixture | undefined;
let thread: SlowQueryThread | undefined;
afterEach(async () => {
  await hurried?.close();
  await thread?.close();
  await plain?.close();
  [plain, hurried, thread] = [undefined, undefined, undefined];
});

/** No time at all: the first check of the clock aborts. */
function hurry(slowQueries: Pick<SlowQueryThread, "run">): Fixture {
  // A thread starts late on a busy machine.
  hurried = openFixture({ readTimeoutMs: -1, responseTimeoutMs: 60_000 }, { slowQueries }, longer);
  return hurried;
}

const SEARCHES = Array.from(
  { length: 6 },
  (_, index) => `/api/transactions?vendorField=o&offset=${index % 3}&fee=${index}`,
);

test("Slow requests are processed by another thread with the same result.", async () => {
  plain = openFixture({}, {}, longer);
  const open = new SlowQueryThread({ databasePath: plain.path, files, identity, readTimeoutMs: 5_000 });
  thread = open;
  let count = 0;
  const fixture = hurry({
    run(request) {
      count += 1;
      return open.run(request);
    },
  });
  for (const url of SEARCHES) {
    const response = await fixture.get(url);
    expect([response.statusCode, response.json()]).toEqual([200, (await plain.get(url)).json()]);
  }
  const body = { vendorField: "o" };
  const searched = await fixture.post("/api/transactions/search", body);
  expect(searched.json()).toEqual((await plain.post("/api/transactions/search", body)).json());
  expect(count).toBeGreaterThan(0);
});

test("Slow requests include those for a wallet that holds much, which are tried again after a while.", async () => {
  let count = 0;
  const fixture = hurry({
    async run() {
      count += 1;
      return { status: 200, body: "{}" };
    },
  });
  const writer = openDatabase(fixture.path);
  const ids = Array.from({ length: 300 }, (_, index) => `${index}`.padStart(64, "0"));
  const hold = writer.prepare("INSERT INTO holdings VALUES (?, 'tokens', ?, ?, ?, '{\"type\":1}')");
  const collection = { size: ids.length, first: ids.at(0), last: ids.at(-1) };
  writer.transaction(() => {
    for (const [index, id] of ids.entries())
      hold.run(dave.address, id, ids[index - 1] ?? null, ids[index + 1] ?? null);
    const change = writer.prepare("UPDATE wallets SET attributes = ? WHERE address = ?");
    change.run(JSON.stringify({ tokens: collection }), dave.address);
  });
  writer.close();
  for (const query of ["", "?a"]) await fixture.get(`/api/wallets/${dave.address}${query}`);
  expect(count).toBe(2);
  expect((await fixture.get(`/api/wallets/${cold.address}`)).json()).toMatchObject({
    data: { address: cold.address },
  });
});

test("Slow requests start another thread when the first has ended for lack of requests.", async () => {
  plain = openFixture({}, {}, longer);
  const open = new SlowQueryThread(
    { databasePath: plain.path, files, identity, readTimeoutMs: 5_000 },
    { idleMs: 1 },
  );
  thread = open;
  const statuses: (number | undefined)[] = [];
  for (let run = 0; run < 2; run++) {
    statuses.push(
      (await open.run({ ip: "192.0.2.1", method: "GET", url: "/api/blockchain", body: undefined }))?.status,
    );
    await expect.poll(() => open.isRunning()).toBe(false);
  }
  expect(statuses).toEqual([200, 200]);
});

test("Slow requests include the fees of the last days.", async () => {
  const forwarded: string[] = [];
  const fixture = hurry({
    async run({ url }) {
      forwarded.push(url);
      return { status: 200, body: "{}" };
    },
  });
  await fixture.get("/api/node/fees?days=30");
  expect(forwarded).toEqual(["/api/node/fees?days=30"]);
});

test("Slow requests keep the status of that thread.", async () => {
  const fixture = hurry({
    run: async () => ({ status: 503, body: '{"statusCode":503,"error":"a","message":"b"}' }),
  });
  const responses = await Promise.all(SEARCHES.map((url) => fixture.get(url)));
  const slow = responses.filter(({ statusCode }) => statusCode !== 200);
  expect(slow.length).toBeGreaterThan(0);
  for (const { statusCode, body, headers } of slow) {
    expect([statusCode, body]).toEqual([503, '{"statusCode":503,"error":"a","message":"b"}']);
    expect(headers["retry-after"]).toBe("10");
  }
});

test("Slow requests are 503 in the usual form if the other thread takes too long.", async () => {
  const late = Promise.withResolvers<void>();
  const server = openFixture(
    { readTimeoutMs: -1, responseTimeoutMs: 100 },
    {
      slowQueries: { run: () => late.promise.then(() => ({ status: 200, body: "{}" })) },
    },
    longer,
  );
  hurried = server;
  const responses = await Promise.all(SEARCHES.map((url) => server.get(url)));
  late.resolve();
  const slow = responses.filter(({ statusCode }) => statusCode !== 200);
  expect(slow.length).toBeGreaterThan(0);
  const error = "Service Unavailable";
  for (const response of slow) expect(response.json()).toEqual({ statusCode: 503, error, message: LATE });
});

test("Slow requests get `retry-after` if too many are queued.", async () => {
  plain = openFixture({}, {}, longer);
  const open = new SlowQueryThread({ databasePath: plain.path, files, identity, readTimeoutMs: 5_000 });
  thread = open;
  const request = { ip: "192.0.2.1", method: "GET", url: "/api/blockchain", body: undefined };
  // Addresses of one /64 are one client.
  const addresses = [
    "192.0.2.1",
    "192.0.2.1",
    "192.0.2.1",
    "2001:db8::1",
    "2001:db8::2",
    "2001:db8::3",
    "192.0.2.2",
  ];
  const requested = addresses.map((ip) => open.run({ ...request, ip }));
  const isTaken = requested.map((response) => response !== undefined);
  expect(isTaken).toEqual([true, true, false, true, true, false, false]);
  const [first] = await Promise.all(requested);
  expect(first).toMatchObject({ status: 200 });
  expect(open.figures()).toEqual({ open: 0, timedOut: 0, refused: 3 });
  await open.run(request);
});

test("Slow requests fail if their thread dies; the next one starts another.", async () => {
  const databasePath = join(mkdtempSync(join(tmpdir(), "uniknode-slow-")), "missing", "chain.sqlite");
  onTestFinished(() => rmSync(dirname(dirname(databasePath)), { recursive: true }));
  plain = openFixture({}, {}, longer);
  const open = new SlowQueryThread({ databasePath, files, identity, readTimeoutMs: 5_000 });
  thread = open;
  const request = { ip: "192.0.2.1", method: "GET", url: "/api/blockchain", body: undefined };
  const requested = [open.run(request), open.run(request)];
  for (const response of requested)
    await expect(response).rejects.toMatchObject({ code: "CALL_CLOSED", isRetryable: true });
  expect(open.figures()).toEqual({ open: 0, timedOut: 0, refused: 0 });
  mkdirSync(dirname(databasePath));
  copyFileSync(plain.path, databasePath);
  expect(await open.run(request)).toMatchObject({ status: 200 });
});
