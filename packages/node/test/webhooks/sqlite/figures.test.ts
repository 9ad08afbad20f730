import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import {
  type QueueFigures,
  readFired,
  readQueueFigures,
  readWebhookFigures,
} from "../../../src/webhooks/figures.ts";
import { PLAIN_SECRETS } from "../../../src/webhooks/secrets.ts";
import { runNow, SqliteStore, sqlOf } from "../../../src/webhooks/sqlite/sql.ts";
import { DeliveryLogRows } from "../../../src/webhooks/storage/delivery-log.ts";
import { putAgain } from "../../../src/webhooks/storage/delivery-rows.ts";
import { beginFinish, finishRows, suspendWebhook } from "../../../src/webhooks/storage/queues.ts";
import { RegisterCommands } from "../../../src/webhooks/storage/register-commands.ts";
import { ReplayRows } from "../../../src/webhooks/storage/replays.ts";
import { failOldest, RetentionSteps } from "../../../src/webhooks/storage/retention.ts";
import { retractFacts } from "../../../src/webhooks/storage/retractions.ts";
import { createDeliveryRows, createWebhookStore } from "../../../test-support/webhooks/sqlite-register.ts";

const FIELDS = {
  event: "block.applied",
  events: [],
  target: "https://receiver.example/hook",
  enabled: true,
  conditions: "[]",
  match: "any",
  order: "parallel",
  confirmations: 0,
  proof: false,
} as const;
const TOKEN = "5".repeat(64);

function openFile(): Database {
  const folder = mkdtempSync(join(tmpdir(), "queues-"));
  const database = openDatabase(join(folder, "node.sqlite"));
  onTestFinished(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  return database;
}

function openMigrated(): Database {
  const database = openFile();
  migrate(database);
  database.execute("INSERT INTO contents (number, data) VALUES (1, '{}')");
  return database;
}

/** Expected figures, computed from all deliveries. */
function counted(database: Database): Map<number, QueueFigures> {
  const rows = database
    .prepare<{ webhook: number; lane: "waiting" | "retrying" | "replaying"; created_ms: number }>(
      `SELECT webhook, created_ms, CASE WHEN replay IS NOT NULL THEN 'replaying'
         WHEN next_attempt_ms IS NOT NULL THEN 'retrying' ELSE 'waiting' END AS lane
       FROM deliveries JOIN webhooks ON webhooks.id = webhook
       WHERE state = 'pending' AND enabled = 1 AND suspended IS NULL ORDER BY number`,
    )
    .all();
  const figures = new Map<number, QueueFigures>();
  for (const { webhook, lane, created_ms } of rows) {
    const known = figures.get(webhook) ?? { waiting: 0, retrying: 0, replaying: 0 };
    const isLate = lane !== "replaying";
    const oldestMs = known.oldestMs ?? (isLate ? created_ms : undefined);
    figures.set(webhook, { ...known, [lane]: known[lane] + 1, ...(oldestMs !== undefined && { oldestMs }) });
  }
  return figures;
}

const byWebhook = (figures: Map<number, QueueFigures>) => [...figures].sort(([a], [b]) => a - b);

type Step = { readonly kind: number; readonly webhook: number; readonly pick: number };

/** Applies every operation that changes deliveries or webhooks to a few of each. */
function createWorld(database: Database) {
  const webhooks = createWebhookStore(database);
  const commands = new RegisterCommands({
    cipher: PLAIN_SECRETS,
    commit: async (steps) => runNow(steps(sql)),
    commitFrom: async (steps) => runNow(steps(sql, 0)),
  });
  const deliveries = createDeliveryRows(database);
  const store = new SqliteStore(database);
  const log = new DeliveryLogRows(store);
  const retention = new RetentionSteps(store);
  const sql = sqlOf(database);
  const nextSequence = database.prepare<{ sequence: number }>(
    "UPDATE queues SET last_sequence = last_sequence + 1 WHERE webhook = ? RETURNING last_sequence AS sequence",
  );
  const replays = new ReplayRows(store);
  const ended = database.prepare("SELECT 1 FROM deliveries WHERE number = ? AND state <> 'pending'");
  const drop = database.prepare("DELETE FROM deliveries WHERE number = ?");
  let made = 0;
  let registered = 0;

  const register = () => {
    registered = webhooks.insert(FIELDS, TOKEN).id;
    webhooks.activate(registered, 0);
  };
  const insert = (
    webhook: number,
    extra: { replay?: number; isRetractable?: boolean; reverts?: string } = {},
  ) => {
    // Deliveries of a webhook can be inserted after its removal, but not before its creation.
    if (webhook > registered) return;
    made++;
    const sequence = nextSequence.get(webhook)?.sequence;
    const place = { height: made % 5, blockId: "b", event: "block.applied", content: 1 };
    deliveries.insert(
      { webhook, id: `m${made}`, ...place, ...(sequence !== undefined && { sequence }), ...extra },
      made,
    );
  };
  const kinds: ((webhook: number, number: number) => void)[] = [
    (webhook) => insert(webhook),
    (webhook) => insert(webhook, { isRetractable: true }),
    (webhook) => insert(webhook, { reverts: "m1" }),
    (webhook, number) => insert(webhook, { replay: number }),
    (_webhook, number) => deliveries.finish(number, "delivered", made),
    (_webhook, number) => deliveries.finish(number, "failed", made, "x"),
    (_webhook, number) => deliveries.postpone(number, made + 5, "x"),
    (_webhook, number) => deliveries.postpone(number, made + 5, "x"),
    // Refused while a queue is being finished.
    (webhook, number) => void log.sendNow(webhook, [number], made).catch(() => {}),
    (webhook, number) =>
      void log
        .requeueMatching(webhook, { state: "failed", fromMs: number }, { after: 0, limit: 3 }, made)
        .catch(() => {}),
    (_webhook, number) => {
      if (ended.get(number)) runNow(putAgain(sql, [{ number, position: made }]));
    },
    (webhook) => void replays.cancel(webhook, made),
    (_webhook, number) => runNow(retractFacts(sql, [number], made)),
    (webhook, number) =>
      runNow(
        beginFinish(sql, webhook, { state: "failed", reason: "x", withRetractions: number % 2 === 0 }, made),
      ),
    (webhook) => void runNow(finishRows(sql, webhook, made)),
    (webhook) => runNow(suspendWebhook(sql, webhook, "x", 1)),
    (webhook) => void commands.resume(webhook),
    (webhook, number) =>
      void commands.update(webhook, {
        changes: { enabled: number % 3 > 0, order: number % 2 ? "strict" : "parallel" },
      }),
    (webhook) => void commands.rotate(webhook, TOKEN, 9),
    (webhook, number) => number % 4 === 0 && void commands.remove(webhook),
    () => webhooks.count() < 4 && register(),
    () => void retention.dropRemoved(),
    (webhook, number) => void runNow(failOldest(sql, webhook, number % 3, made)),
    (_webhook, number) =>
      void retention.dropBehind(
        0,
        { maxAgeMs: 1, maxFailedAgeMs: 1, maxDeliveries: number, maxWaiting: 9, keptBlocks: 1 },
        made,
      ),
    (_webhook, number) => void drop.run(number),
  ];
  for (let count = 0; count < 3; count++) register();
  return {
    length: kinds.length,
    run: ({ kind, webhook, pick }: Step) =>
      void present(kinds[kind])(webhook, 1 + (pick % Math.max(made, 1))),
  };
}

test("The figures equal a full count after any change of deliveries and webhooks.", () => {
  const steps = fc.array(
    fc.record({
      // A third of the steps inserts into a queue.
      kind: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 24 })),
      webhook: fc.integer({ min: 1, max: 6 }),
      pick: fc.nat(200),
    }),
    { minLength: 20, maxLength: 80 },
  );
  const database = openMigrated();
  const figures = () => runNow(readQueueFigures(sqlOf(database)));
  const undo = new Error("undone");
  fc.assert(
    fc.property(steps, (taken) => {
      // One transaction for each run, rolled back at its end: for the rows, a rollback is a crash.
      expect(() =>
        database.transaction(() => {
          const world = createWorld(database);
          expect(world.length).toBe(25);
          for (const step of taken) {
            world.run(step);
            expect(byWebhook(figures())).toEqual(byWebhook(counted(database)));
          }
          throw undo;
        }),
      ).toThrow(undo);
      expect(figures().size).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test("A failed delivery of a removed webhook can return to its queue, or to a replay.", () => {
  const database = openMigrated();
  const world = createWorld(database);
  const [insert, fail, requeue, putAgain, remove] = [0, 5, 8, 10, 19];
  const all = [insert, insert, insert, insert, fail, fail, remove, requeue, putAgain];
  const picks = [0, 0, 0, 0, 0, 1, 3, 0, 1];
  for (const [index, kind] of all.entries()) {
    world.run({ kind, webhook: 1, pick: present(picks[index]) });
    expect(byWebhook(runNow(readQueueFigures(sqlOf(database))))).toEqual(byWebhook(counted(database)));
  }
});

/** Queues `perQueue` deliveries for each of 1,000 webhooks, every third of them as a retry. */
function openFull(perQueue: number): Database {
  const database = openMigrated();
  const webhooks = createWebhookStore(database);
  database.transaction(() => {
    for (let count = 0; count < 1_000; count++) webhooks.activate(webhooks.insert(FIELDS, TOKEN).id, 0);
    database.execute(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${perQueue * 1_000})
       INSERT INTO deliveries (webhook, id, event, target_number, content, created_ms, state, next_attempt_ms)
       SELECT 1 + i % 1000, i, 'x', 1, 1, i, 'pending', iif(i % 3 = 0, i, NULL) FROM n`,
    );
  });
  return database;
}

test("Figures of 1,000 webhooks cost less than 50 ms of CPU time, and scan no deliveries.", () => {
  const database = openFull(200);
  const texts: string[] = [];
  const noted: Database = {
    ...database,
    prepare(sql, options) {
      texts.push(sql);
      return database.prepare(sql, options);
    },
  };
  const sql = sqlOf(noted);
  const read = () => {
    runNow(readFired(sql));
    runNow(readWebhookFigures(sql));
    return runNow(readQueueFigures(sql));
  };
  read();
  const plans = texts.flatMap((sql) =>
    database
      .prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(
        ...sql
          .split("?")
          .slice(1)
          .map(() => 0),
      )
      .map(({ detail }) => detail),
  );
  expect(plans.filter((step) => /^SCAN (deliveries|events)/.test(step))).toEqual([]);
  // Their rows are as large as their conditions.
  expect(plans.filter((step) => /^SCAN webhooks(?! USING COVERING INDEX)/.test(step))).toEqual([]);

  const before = process.cpuUsage();
  const queues = read();
  const { user, system } = process.cpuUsage(before);
  expect(queues.size).toBe(1_000);
  expect(queues.get(2)).toEqual({ waiting: 134, retrying: 66, replaying: 0, oldestMs: 1 });
  expect((user + system) / 1_000).toBeLessThan(50);
});
