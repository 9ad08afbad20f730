/** The rows of webhooks in a hand-over: each database returns exactly what it was given. */
import { describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { migrate as migratePostgres } from "../../../src/postgres/migrations.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { EventLog } from "../../../src/store/events/event-log.ts";
import { MetaStore } from "../../../src/store/node/meta.ts";
import {
  FORMAT,
  type HandOverHead,
  type HandOverLine,
  lineOf,
  readLine,
} from "../../../src/webhooks/hand-over/lines.ts";
import type { HandOverRows } from "../../../src/webhooks/hand-over/ports.ts";
import { isRowOf, TABLE_NAMES, TABLES } from "../../../src/webhooks/hand-over/tables.ts";
import { changeOwner, readOwner } from "../../../src/webhooks/postgres/hand-over/owner.ts";
import {
  importWebhooks,
  readWebhookLines,
  removeIncomplete,
} from "../../../src/webhooks/postgres/hand-over/rows.ts";
import { ShardOwnership } from "../../../src/webhooks/postgres/ownership.ts";
import { createKey, SecretCipher } from "../../../src/webhooks/secrets.ts";
import { SqliteHandOverRows } from "../../../src/webhooks/sqlite/hand-over/rows.ts";
import { openSqliteStorage } from "../../../src/webhooks/sqlite/storage.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { collect, LAST, queueFigures, ROWS } from "../../../test-support/webhooks/hand-over-rows.ts";
import { databasePath } from "../../../test-support/webhooks/support.ts";

const NETWORK = "chain";
const ciphers = new Map(
  ["n", "m", "w"].map((name) => [name, new SecretCipher(createKey(name.repeat(32)).key)]),
);
const cipherOf = (name: string): SecretCipher => present(ciphers.get(name));

type Node = {
  readonly database: Database;
  readonly rows: HandOverRows;
  /** Opens the storage as a start of the service does; returns its epoch. */
  openEpoch(): number;
};

function openNode(name: string): Node {
  const path = databasePath();
  const database = openDatabase(path);
  onTestFinished(database.close);
  migrate(database);
  new MetaStore(database).write("nethash", NETWORK);
  const eventLog = new EventLog(database, { recordedNames: () => new Set(["block.applied"]) });
  for (let height = 1; height <= 20; height++)
    eventLog.append([{ id: `${height}`, name: "block.applied", height, blockId: `${height}` }]);
  const deps = { database, databasePath: path, eventLog, cipher: cipherOf(name) };
  return {
    ...{ database, rows: new SqliteHandOverRows(deps) },
    openEpoch: () => present(openSqliteStorage(deps).queue.ownership.epochOf(1)),
  };
}

const TO_NODE = [
  { from: "node", to: "to workers", transfer: "a" },
  { from: "to workers", to: "workers", transfer: "a" },
  { from: "workers", to: "to node", transfer: "b" },
] as const;
/** Higher than the clock. */
const EPOCH = 9_000_000_000_000;
const HEAD: HandOverHead = {
  ...{ format: FORMAT, network: NETWORK, matched: 18, isEncrypted: true, epoch: EPOCH, last: LAST },
};

/** Opens a node that has received all rows. */
function openFilledNode(name: string): Node {
  const node = openNode(name);
  for (const change of TO_NODE) node.rows.change(change);
  for (const table of TABLE_NAMES) node.rows.add(table, ROWS[table]);
  node.rows.finish(HEAD, "b");
  return node;
}

const countOf = (): number => TABLE_NAMES.reduce((sum, table) => sum + ROWS[table].length, 0);

async function openPostgres(databases: { connect(): Promise<Postgres> }): Promise<Postgres> {
  const postgres = await databases.connect();
  onTestFinished(() => postgres.close());
  await migratePostgres(postgres);
  return postgres;
}

async function* sent(lines: Iterable<HandOverLine>): AsyncIterable<HandOverLine> {
  for (const line of lines) yield readLine(lineOf(line).trimEnd());
}

const importInto = (postgres: Postgres, lines: AsyncIterable<HandOverLine>, transfer = "a") =>
  postgres.transaction("READ WRITE", (transaction) =>
    importWebhooks(transaction, lines, {
      ...{ transfer, network: NETWORK, cipher: cipherOf("w") },
      onRows() {},
      async onWritten(names) {
        expect(names.toSorted()).toEqual(["block.applied", "block.reverted"]);
      },
    }),
  );

const beginIn = (postgres: Postgres, transfer = "a") =>
  postgres.transaction("READ WRITE", (transaction) =>
    changeOwner(transaction, { from: "node", to: "to workers", transfer }),
  );

/** Copies the events of the node's log, as the mirror does. */
const copyEvents = (postgres: Postgres, from: number, to: number) =>
  postgres.query(
    `WITH copied AS (UPDATE event_log SET last_sequence = $2, is_started = true)
     INSERT INTO events (sequence, id, name, height, block_id, created_ms) SELECT number, number, 'block.applied', number, number, 0
     FROM generate_series($1::bigint, $2::bigint) AS number`,
    [from, to],
  );

test("A node has the rows that it was given, and its queues count them.", async () => {
  const { database, rows } = openFilledNode("n");
  const { rows: lines, others } = await collect(rows.lines());
  expect(lines).toEqual(ROWS);
  expect(others).toEqual([{ webhooks: HEAD }, { end: countOf() }]);
  expect(queueFigures(database)).toEqual([
    { webhook: 1, waiting: 1, retrying: 1, replaying: 1 },
    { webhook: 2, waiting: 0, retrying: 0, replaying: 0 },
    { webhook: 3, waiting: 0, retrying: 0, replaying: 0 },
  ]);
  const [{ token } = { token: "" }] = database.prepare<{ token: string }>("SELECT token FROM webhooks").all();
  expect(token).toMatch(/^sealed:/);
  expect(database.prepare("SELECT attempt FROM attempts WHERE delivery = 2").all()).toHaveLength(2);
});

test("A node drops its rows in steps, and never gives a number again.", async () => {
  const { database, rows } = openFilledNode("n");
  expect(rows.isEmpty()).toBe(false);
  while (rows.drop());
  expect(rows.isEmpty()).toBe(true);
  const { rows: lines, others } = await collect(rows.lines());
  expect([lines, others]).toEqual([{}, [{ webhooks: HEAD }, { end: 0 }]]);
  database.execute("INSERT INTO contents (data) VALUES ('{}')");
  expect(database.prepare("SELECT number FROM contents").all()).toEqual([{ number: 21 }]);
});

test("A node refuses webhooks of another chain, and positions that its log does not have.", () => {
  const { rows } = openNode("n");
  for (const change of TO_NODE) rows.change(change);
  const finish = (head: object) => () => rows.finish({ ...HEAD, ...head }, "b");
  expect(finish({ network: "other" })).toThrow(expect.objectContaining({ code: "OTHER_NODE" }));
  expect(finish({ matched: 21 })).toThrow(expect.objectContaining({ code: "EVENTS_MISSING" }));
  expect(rows.owner().state).toBe("to node");
  expect(() => rows.finish(HEAD, "c")).toThrow(expect.objectContaining({ code: "OWNER_CHANGED" }));
  rows.finish(HEAD, "b");
  expect(rows.owner()).toEqual({ state: "node", transfer: "b" });
});

test("A node knows the events of its own log only.", () => {
  const { rows } = openNode("n");
  expect(rows.hasEvent({ sequence: 20, id: "20" })).toBe(true);
  expect(rows.hasEvent({ sequence: 20 })).toBe(true);
  expect(rows.hasEvent({ sequence: 20, id: "other" })).toBe(false);
  expect(rows.hasEvent({ sequence: 21, id: "21" })).toBe(false);
});

test("The columns of every table are those of the node's database, except figures that triggers keep.", () => {
  const { database } = openNode("n");
  for (const table of TABLE_NAMES) {
    const columns = database
      .prepare<{ name: string }>(`PRAGMA table_info(${table})`)
      .all()
      .map(({ name }) => name);
    const own = new Set(["waiting", "retrying", "replaying", "attempt"]);
    const expected = columns.filter(
      (name) => !own.has(name) || (name === "attempts" && table === "deliveries"),
    );
    const named = TABLES[table].columns.map(({ name }) => name);
    expect(named.toSorted(), table).toEqual(expected.toSorted());
  }
});

test("A row with another number of columns, or a value of another type, is not a row of its table.", () => {
  for (const table of TABLE_NAMES) {
    for (const row of ROWS[table]) {
      expect(isRowOf(TABLES[table], row), table).toBe(true);
      expect(isRowOf(TABLES[table], [...row, null]), table).toBe(false);
      expect(isRowOf(TABLES[table], row.slice(1)), table).toBe(false);
      expect(isRowOf(TABLES[table], row.with(0, null)), table).toBe(false);
      expect(isRowOf(TABLES[table], row.with(0, 1.5)), table).toBe(false);
      expect(isRowOf(TABLES[table], row.with(0, 2 ** 53)), table).toBe(false);
    }
  }
});

test("A line that was changed, or has another form, is refused.", () => {
  const line = lineOf({ table: "queues", rows: [[1, 2]] }).trimEnd();
  expect(readLine(line)).toEqual({ table: "queues", rows: [[1, 2]] });
  const wrong = [
    line.replace("[[1,2]]", "[[1,3]]"),
    lineOf({ table: "queues", rows: [["1", 2]] }).trimEnd(),
    lineOf({ table: "other", rows: [] } as unknown as HandOverLine).trimEnd(),
    lineOf({ end: -1 }).trimEnd(),
    lineOf({ webhooks: { ...HEAD, format: 1 } } as unknown as HandOverLine).trimEnd(),
    "",
  ];
  for (const text of wrong)
    expect(() => readLine(text), text).toThrow(expect.objectContaining({ code: "HAND_OVER_INVALID" }));
});

describe.runIf(hasPostgres)("PostgreSQL", () => {
  const databases = useDatabases();

  test("PostgreSQL has the rows that a node had, and returns them to another node.", async () => {
    const first = openFilledNode("n");
    const postgres = await openPostgres(databases);
    await copyEvents(postgres, 19, 20);
    await beginIn(postgres);
    await importInto(postgres, sent(first.rows.lines()));
    expect(await readOwner(postgres.query)).toEqual({ state: "workers", transfer: "a" });
    const [shards] = await postgres.query(
      "SELECT count(*)::integer AS count, min(matched) AS matched FROM shards",
    );
    expect(shards).toEqual({ count: 32, matched: "18" });
    const second = openNode("m");
    for (const change of TO_NODE) second.rows.change(change);
    await postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", async (transaction) => {
      const options = { matched: 18, network: NETWORK, cipher: cipherOf("w") };
      for await (const line of readWebhookLines(transaction, options)) {
        if ("rows" in line) second.rows.add(line.table, line.rows);
        if ("webhooks" in line) expect(line.webhooks).toEqual(HEAD);
      }
    });
    second.rows.finish(HEAD, "b");
    expect(await collect(second.rows.lines())).toEqual(await collect(first.rows.lines()));
    expect(queueFigures(second.database)).toEqual(queueFigures(first.database));
    expect(await postgres.query("SELECT nextval('delivery_numbers') AS number")).toEqual([{ number: "31" }]);
  });

  test("PostgreSQL and a node continue the epochs of each other after a hand-over, whatever the clock is.", async () => {
    const first = openFilledNode("n");
    const ofNode = first.openEpoch();
    expect(ofNode).toBeGreaterThan(EPOCH);
    const postgres = await openPostgres(databases);
    await copyEvents(postgres, 19, 20);
    await beginIn(postgres);
    await importInto(postgres, sent(first.rows.lines()));
    const worker = new ShardOwnership(
      { worker: "a", leaseMs: 60_000 },
      { postgres, elapsedMs: () => performance.now() },
    );
    await worker.renew();
    const ofWorkers = [...worker.held.values()].map(({ epoch }) => epoch);
    expect(ofWorkers).toHaveLength(32);
    expect(Math.min(...ofWorkers)).toBeGreaterThan(ofNode);
    const second = openNode("m");
    for (const change of TO_NODE) second.rows.change(change);
    await postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", async (transaction) => {
      const options = { matched: 18, network: NETWORK, cipher: cipherOf("w") };
      for await (const line of readWebhookLines(transaction, options)) {
        if ("rows" in line) second.rows.add(line.table, line.rows);
        if ("webhooks" in line) second.rows.finish(line.webhooks, "b");
      }
    });
    expect(second.openEpoch()).toBeGreaterThan(Math.max(...ofWorkers));
  });

  test("PostgreSQL has no row of an import that fails or is not complete, or has another id.", async () => {
    const { rows } = openFilledNode("n");
    const postgres = await openPostgres(databases);
    await copyEvents(postgres, 19, 20);
    await expect(importInto(postgres, sent(rows.lines()))).rejects.toMatchObject({ code: "OWNER_CHANGED" });
    await beginIn(postgres);
    await expect(importInto(postgres, sent(rows.lines()), "c")).rejects.toMatchObject({
      code: "OWNER_CHANGED",
    });
    const lines = [...rows.lines()];
    for (const missing of lines.keys()) {
      const failing = importInto(postgres, sent(lines.toSpliced(missing, 1)));
      await expect(failing, `line ${missing}`).rejects.toMatchObject({ code: expect.any(String) });
    }
    expect(await postgres.query("SELECT 1 FROM webhooks")).toEqual([]);
    expect(await readOwner(postgres.query)).toEqual({ state: "to workers", transfer: "a" });
    await importInto(postgres, sent(lines));
  });

  test("PostgreSQL keeps the rows of the workers if a second command copies the same hand-over after the first.", async () => {
    const { rows } = openFilledNode("n");
    const postgres = await openPostgres(databases);
    await copyEvents(postgres, 19, 20);
    await beginIn(postgres);
    await importInto(postgres, sent(rows.lines()));
    await postgres.query("UPDATE shard_positions SET matched = 20");
    await expect(importInto(postgres, sent(rows.lines()))).rejects.toMatchObject({ code: "OWNER_CHANGED" });
    const matched = await postgres.query("SELECT DISTINCT matched FROM shard_positions");
    expect(matched).toEqual([{ matched: "20" }]);
  });

  test("PostgreSQL refuses webhooks of another chain, and a position after which it lacks events.", async () => {
    const { rows } = openFilledNode("n");
    const postgres = await openPostgres(databases);
    await beginIn(postgres);
    // Begins after the position of the node.
    await copyEvents(postgres, 20, 20);
    await expect(importInto(postgres, sent(rows.lines()))).rejects.toMatchObject({ code: "EVENTS_MISSING" });
    await postgres.query("UPDATE event_log SET last_sequence = 17");
    await postgres.query("DELETE FROM events");
    const [head, ...others] = rows.lines();
    const other = {
      webhooks: { ...(present(head) as { webhooks: HandOverHead }).webhooks, network: "other" },
    };
    await expect(importInto(postgres, sent([other, ...others]))).rejects.toMatchObject({
      code: "OTHER_NODE",
    });
    // The mirror has not copied the matched events yet.
    await importInto(postgres, sent(rows.lines()));
  });

  test("PostgreSQL replaces the characters that it cannot store, and the rows of a former hand-over.", async () => {
    const { rows } = openFilledNode("n");
    const postgres = await openPostgres(databases);
    const lines = [...rows.lines()].map((line) =>
      "rows" in line && line.table === "attempts"
        ? { ...line, rows: line.rows.map((row) => row.with(4, "a\0b")) }
        : line,
    );
    await beginIn(postgres);
    await importInto(postgres, sent(lines));
    await postgres.query("UPDATE webhook_register SET owner = 'node'");
    await beginIn(postgres, "b");
    await importInto(postgres, sent(lines), "b");
    const responses = await postgres.query<{ response: string }>("SELECT DISTINCT response FROM attempts");
    expect(responses).toEqual([{ response: "a\uFFFDb" }]);
    expect(await postgres.query("SELECT 1 FROM deliveries")).toHaveLength(ROWS.deliveries.length);
  });

  test("PostgreSQL has every column of every table, except columns that it fills itself.", async () => {
    const postgres = await openPostgres(databases);
    for (const table of TABLE_NAMES) {
      const columns = await postgres.query<{ name: string }>(
        `SELECT column_name AS name FROM information_schema.columns WHERE table_name = $1 AND table_schema = current_schema()
         AND is_generated = 'NEVER' AND (identity_generation IS NULL OR identity_generation <> 'ALWAYS')`,
        [table],
      );
      const expected = columns.map(({ name }) => name).sort();
      expect(TABLES[table].columns.map(({ name }) => name).sort(), table).toEqual(expected);
    }
  });

  test("PostgreSQL does not hand over webhooks whose registration was not completed.", async () => {
    const { rows } = openFilledNode("n");
    const postgres = await openPostgres(databases);
    await beginIn(postgres);
    await importInto(postgres, sent(rows.lines()));
    await postgres.query("UPDATE webhooks SET active_after = $1 WHERE id = 2", [Number.MAX_SAFE_INTEGER]);
    await postgres.transaction("READ WRITE", removeIncomplete);
    expect(await postgres.query("SELECT id FROM webhooks ORDER BY id")).toEqual([{ id: "1" }, { id: "3" }]);
    expect(await postgres.query("SELECT id FROM removed_webhooks ORDER BY id")).toEqual([
      { id: "2" },
      { id: "4" },
    ]);
  });
});
