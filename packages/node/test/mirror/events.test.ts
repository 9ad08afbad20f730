/** `uniknode mirror` with a dev chain: PostgreSQL has every row of the node's event log once, whatever happens to either of them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_HTTP_GATEWAY_OPTIONS, gatewayOverHttp, type HttpGateway } from "../../src/gateway/http.ts";
import { readCopy } from "../../src/mirror/events/rows.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { COPY_READER } from "../../src/store/events/copied-events.ts";
import { createEventLog } from "../../src/store/events/event-log.ts";
import { type MirroredDevChain, startMirroredDevChain, TOKEN } from "../../test-support/mirror/dev-chain.ts";
import { copiedEvents, nodeEvents } from "../../test-support/mirror/events.ts";
import { startLyingFeed } from "../../test-support/mirror/lying-feed.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import type { Running } from "../../test-support/process/uniknode.ts";

const WAIT = { timeout: 60_000, interval: 50 };
const NAMES = [
  "block.applied",
  "block.reverted",
  "transaction.applied",
  "transaction.reverted",
  "wallet.saved",
];

let chain: MirroredDevChain;
let mirror: Running;
let remote: HttpGateway;
/** Last event before the first copied one. */
let start: number;

beforeAll(async () => {
  if (!hasPostgres) return;
  chain = await startMirroredDevChain();
  remote = gatewayOverHttp(
    { ...DEFAULT_HTTP_GATEWAY_OPTIONS, urls: [chain.url], token: TOKEN },
    { onChange: () => {} },
  );
  mirror = chain.startMirror();
}, 120_000);
afterAll(async () => {
  await remote?.close();
  await chain?.closeAll();
});

function readNode<T>(read: (database: Database) => T): T {
  const database = openDatabase(chain.nodeDatabase, { readonly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

const logOf = (database: Database) => createEventLog(database, { recordedNames: () => new Set() });
const lastEvent = () => readNode((database) => logOf(database).lastSequence());

/** Stops forging, waits until everything is copied, and compares the rows. */
async function compareEvents(): Promise<void> {
  await chain.command("forge", { enabled: false });
  await expect
    .poll(async () => (await readCopy(chain.postgres).catch(() => undefined))?.sequence, WAIT)
    .toBe(lastEvent());
  const rows = readNode((database) => nodeEvents(database, start));
  expect(rows.length).toBeGreaterThan(0);
  expect(await copiedEvents(chain.postgres, 0)).toEqual(rows);
  expect((await readCopy(chain.postgres)).gaps).toBe(0);
  await chain.command("forge", { enabled: true });
}

describe.skipIf(!hasPostgres)("the events of a dev chain", () => {
  test("are recorded for webhooks of the database, and copied from then on.", async () => {
    await chain.followed();
    await expect.poll(async () => (await readCopy(chain.postgres)).isStarted, WAIT).toBe(true);
    start = (await readCopy(chain.postgres)).sequence;
    const { lastSequence } = await remote.gateway.replaceRemoteNames(NAMES);
    expect(lastSequence).toBe(start);
    await chain.command("mine", { blocks: 30 });
    await compareEvents();
    expect(readNode((database) => logOf(database).cursor(COPY_READER))).toBeDefined();
  }, 120_000);

  test("follow reorganisations.", async () => {
    for (const depth of [1, 7, 25]) {
      await chain.command("reorg", { depth });
      await chain.command("mine", { blocks: 2 });
    }
    await compareEvents();
    const [row] = await chain.postgres.query<{ count: number }>(
      "SELECT count(*)::integer AS count FROM events WHERE reverts IS NOT NULL",
    );
    expect(row?.count).toBeGreaterThan(30);
  }, 120_000);

  test("are complete after each of several kills of the mirror.", async () => {
    for (let kill = 0; kill < 4; kill++) {
      const mining = chain.command("mine", { blocks: 20 });
      await expect.poll(async () => (await readCopy(chain.postgres)).sequence, WAIT).toBeGreaterThan(0);
      mirror.child.kill("SIGKILL");
      await mirror.ended;
      await mining;
      await chain.command("reorg", { depth: 3 });
      mirror = chain.startMirror();
    }
    await compareEvents();
  }, 120_000);

  test("are complete after the database was killed.", async () => {
    const mining = chain.command("mine", { blocks: 20 });
    await chain.server.crash();
    await mining;
    await compareEvents();
  }, 120_000);

  test("are copied by one mirror at a time, also when a paused one wakes up.", async () => {
    const standby = chain.startMirror("--name", "standby");
    mirror.child.kill("SIGSTOP");
    await chain.command("mine", { blocks: 10 });
    await compareEvents();
    mirror.child.kill("SIGCONT");
    await chain.command("mine", { blocks: 10 });
    await compareEvents();
    mirror.child.kill("SIGTERM");
    await mirror.ended;
    mirror = standby;
  }, 120_000);

  test("are recorded after a restart of the node, until the names are replaced.", async () => {
    await chain.restartNode();
    const before = lastEvent();
    await chain.command("mine", { blocks: 3 });
    expect(lastEvent()).toBeGreaterThan(before);
    await compareEvents();
    const { lastSequence } = await remote.gateway.replaceRemoteNames(["block.applied"]);
    await chain.command("mine", { blocks: 3 });
    const names = readNode((database) => logOf(database).read(lastSequence, 100)).map(({ name }) => name);
    expect(names).toContain("block.applied");
    expect(new Set(names).size).toBe(1);
    await remote.gateway.replaceRemoteNames([]);
    const end = lastEvent();
    await chain.command("mine", { blocks: 3 });
    expect(lastEvent()).toBe(end);
    expect(readNode((database) => logOf(database).cursor(COPY_READER))).toBeUndefined();
  }, 120_000);

  test("are missing from a node of an older version: the mirror says so once, and copies the blocks.", async () => {
    mirror.child.kill("SIGTERM");
    await mirror.ended;
    const older = await startLyingFeed(chain.url, (json) => json, ["/api/internal/feed/events"]);
    mirror = chain.startMirror("--node", older.url);
    await expect.poll(mirror.stderr, WAIT).toContain("start a node of the same version");
    await chain.command("mine", { blocks: 5 });
    await chain.followed();
    await chain.command("reorg", { depth: 2 });
    await chain.followed();
    expect(mirror.stderr().match(/failed to copy the events/g)).toHaveLength(1);
    await older.close();
  }, 120_000);
});
