/** `uniknode mirror` with a dev chain: PostgreSQL has every row of the node's event log once, whatever happens to either of them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCopy } from "../../src/mirror/events/rows.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { COPY_READER } from "../../src/store/events/subscribed-events.ts";
import { type MirroredDevChain, startMirroredDevChain } from "../../test-support/mirror/dev-chain.ts";
import { copiedEvents, nodeEvents } from "../../test-support/mirror/events.ts";
import { startLyingFeed } from "../../test-support/mirror/lying-feed.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import { type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { insertWebhook, ownByWorkers } from "../../test-support/webhooks/postgres-rows.ts";

const NAMES = [
  "block.applied",
  "block.reverted",
  "transaction.applied",
  "transaction.reverted",
  "wallet.saved",
];

let chain: MirroredDevChain;
let mirror: Running;

beforeAll(async () => {
  if (!hasPostgres) return;
  chain = await startMirroredDevChain();
  mirror = chain.startMirror();
});
afterAll(() => chain?.closeAll());

function readNode<T>(read: (database: Database) => T): T {
  const database = openDatabase(chain.nodeDatabase, { readonly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

const logOf = (database: Database) => new EventLog(database, { recordedNames: () => new Set() });
const lastEvent = () => readNode((database) => logOf(database).lastSequence());

describe.skipIf(!hasPostgres)("the events of a dev chain", () => {
  test("The events of a dev chain are recorded for webhooks of the database, and copied from then on.", async () => {
    await chain.followed();
    await expect.poll(async () => (await readCopy(chain.postgres)).isStarted).toBe(true);
    const { sequence } = await readCopy(chain.postgres);
    expect(await chain.recordEvents(NAMES)).toBe(sequence);
    await chain.command("mine", { blocks: 30 });
    await chain.compare();
    expect((await readCopy(chain.postgres)).sequence).toBeGreaterThan(sequence + 60);
    expect(readNode((database) => logOf(database).cursor(COPY_READER))).toBeDefined();
  });

  test("The events of a dev chain follow reorganisations.", async () => {
    for (const depth of [1, 7, 25]) {
      await chain.command("reorg", { depth });
      await chain.command("mine", { blocks: 2 });
    }
    await chain.compare();
    const [row] = await chain.postgres.query<{ count: number }>(
      "SELECT count(*)::integer AS count FROM events WHERE reverts IS NOT NULL",
    );
    expect(row?.count).toBeGreaterThan(30);
  });

  test("The events of a dev chain are complete after each of two kills of the mirror.", async () => {
    for (let kill = 0; kill < 2; kill++) {
      const mining = chain.command("mine", { blocks: 20 });
      await expect.poll(async () => (await readCopy(chain.postgres)).sequence).toBeGreaterThan(0);
      mirror.child.kill("SIGKILL");
      await mirror.ended;
      await mining;
      await chain.command("reorg", { depth: 3 });
      mirror = chain.startMirror();
    }
    await chain.compare();
  });

  test("The events of a dev chain are complete after the database was killed.", async () => {
    const mining = chain.command("mine", { blocks: 20 });
    await chain.server.crash();
    await mining;
    await chain.compare();
  });

  test("The events of a dev chain are copied by one mirror at a time, also when a paused one wakes up.", async () => {
    const standby = chain.startMirror("--name", "standby");
    mirror.child.kill("SIGSTOP");
    await chain.command("mine", { blocks: 10 });
    await chain.compare();
    mirror.child.kill("SIGCONT");
    await chain.command("mine", { blocks: 10 });
    await chain.compare();
    mirror.child.kill("SIGTERM");
    await mirror.ended;
    mirror = standby;
  });

  test("The events of a dev chain are recorded after a restart of the node, until the names are replaced.", async () => {
    await chain.restartNode();
    const before = lastEvent();
    await chain.command("mine", { blocks: 3 });
    expect(lastEvent()).toBeGreaterThan(before);
    await chain.compare();
    const lastSequence = await chain.recordEvents(["block.applied"]);
    await chain.command("mine", { blocks: 3 });
    const names = readNode((database) => logOf(database).read(lastSequence, 100)).map(({ name }) => name);
    expect(names).toContain("block.applied");
    expect(new Set(names).size).toBe(1);
    await chain.recordEvents([]);
    const end = lastEvent();
    await chain.command("mine", { blocks: 3 });
    expect(lastEvent()).toBe(end);
    expect(readNode((database) => logOf(database).cursor(COPY_READER))).toBeUndefined();
  });

  test("A node of an older version lacks the events: the mirror says so once, and copies the blocks.", async () => {
    mirror.child.kill("SIGTERM");
    await mirror.ended;
    const older = await startLyingFeed(chain.url, (json) => json, ["/api/internal/feed/events"]);
    mirror = chain.startMirror("--node", older.url);
    await expect.poll(mirror.stderr).toContain("start a node of the same version");
    await chain.command("mine", { blocks: 5 });
    await chain.followed();
    await chain.command("reorg", { depth: 2 });
    await chain.followed();
    await expect.poll(() => mirror.stderr().match(/failed to copy the events/g)).toHaveLength(1);
    mirror.child.kill("SIGTERM");
    await mirror.ended;
    await older.close();
  });

  test("The events continue with higher sequences after the database of the node has lost its log; doctor says so.", async () => {
    const { sequence: before } = await readCopy(chain.postgres);
    await chain.stopNode();
    const database = openDatabase(chain.nodeDatabase);
    database.execute("DELETE FROM events; UPDATE sqlite_sequence SET seq = 2 WHERE name = 'events'");
    database.close();
    await chain.restartNode();
    await chain.recordEvents(NAMES);
    mirror = chain.startMirror();
    await expect.poll(async () => (await readCopy(chain.postgres)).gaps).toBe(1);
    await expect.poll(lastEvent).toBeGreaterThanOrEqual(before);
    await chain.command("mine", { blocks: 5 });
    // No further events, so that both logs can be read one after the other.
    await chain.command("forge", { enabled: false });
    await expect.poll(async () => (await readCopy(chain.postgres)).sequence - lastEvent()).toBe(0);
    const rows = readNode((database) => nodeEvents(database, before));
    // Each block has at least two events: it was applied, and saved the wallet of its delegate.
    expect(rows.length).toBeGreaterThanOrEqual(2 * 5);
    expect(await copiedEvents(chain.postgres, before)).toEqual(rows);
    const doctor = await spawnUniknode(["doctor", "--database-url", chain.databaseUrl]).ended;
    expect(doctor.stdout).toMatch(/events +copied up to \d+; 1 gaps, the last at 20/);
  });

  test("The events that webhooks of the database name are recorded again after the database of the node has lost the names.", async () => {
    const recorded = () =>
      readNode((database) =>
        database.prepare<{ name: string }>("SELECT name FROM remote_names ORDER BY name").all(),
      ).map(({ name }) => name);
    await ownByWorkers(chain.postgres);
    await insertWebhook(chain.postgres);
    await chain.stopNode();
    const database = openDatabase(chain.nodeDatabase);
    database.execute("DELETE FROM remote_names");
    database.close();
    expect(recorded()).toEqual([]);
    await chain.restartNode();
    await expect.poll(recorded).toEqual(["block.applied", "block.reverted"]);
  });
});
