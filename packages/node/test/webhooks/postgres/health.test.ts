/** Health and figures of webhooks in PostgreSQL. */
import { describe, expect, test } from "vitest";
import { MINUTE_MS } from "../../../src/platform/clock/durations.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { DeliveryFigures } from "../../../src/webhooks/figures.ts";
import type { AttemptOutcome } from "../../../src/webhooks/model/deliveries.ts";
import { PostgresStore } from "../../../src/webhooks/postgres/sql.ts";
import { countAttempts, HealthRows } from "../../../src/webhooks/storage/health.ts";
import { suspendWebhook } from "../../../src/webhooks/storage/queues.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { ownByWorkers } from "../../../test-support/webhooks/postgres-rows.ts";
import { NOW_MS } from "../queue-port/subject.ts";
import { insertDeliveries, openRegister } from "./open.ts";

type CountedOutcome = Pick<AttemptOutcome, "webhook" | "atMs" | "failure">;

const RETRY = { next_attempt_ms: NOW_MS, attempts: 1 };
const FAILURE = { reason: "HTTP 500", retryAtMs: NOW_MS, suspension: { reason: "-" } };

const outcome = (webhook: number, isSuccess: boolean, atMs = NOW_MS): CountedOutcome => ({
  webhook,
  atMs,
  ...(!isSuccess && { failure: FAILURE }),
});

const count = (postgres: Postgres, outcomes: readonly CountedOutcome[]): Promise<void> =>
  new PostgresStore(postgres).write((sql) => countAttempts(sql, outcomes));

const suspend = (postgres: Postgres, webhook: number): Promise<void> =>
  new PostgresStore(postgres).write((sql) => suspendWebhook(sql, webhook, "gone", NOW_MS));

describe.skipIf(!hasPostgres)("webhooks in PostgreSQL", () => {
  const databases = useDatabases();

  test("The health counts attempts of the last hour, and pending deliveries of all lanes.", async () => {
    const { postgres, add } = await openRegister(databases);
    const health = new HealthRows(new PostgresStore(postgres));
    const [id, other] = [await add(), await add()];
    const webhook = { id, enabled: true };
    expect(await health.of(webhook, NOW_MS)).toEqual({ queued: 0, lastHour: { succeeded: 0, failed: 0 } });
    await count(postgres, []);
    await count(postgres, [outcome(id, true), outcome(other, false), outcome(id, false), outcome(id, true)]);
    await count(postgres, [outcome(id, true, NOW_MS + MINUTE_MS), outcome(999, true)]);
    await insertDeliveries(postgres, id, 3);
    await insertDeliveries(postgres, id, 2, RETRY);
    await insertDeliveries(postgres, id, 1, {}, "replay");
    await insertDeliveries(postgres, id, 9, { state: "delivered" });
    const nowMs = NOW_MS + MINUTE_MS;
    expect(await health.of(webhook, nowMs)).toEqual({ queued: 6, lastHour: { succeeded: 3, failed: 1 } });
    const later = NOW_MS + 60 * MINUTE_MS;
    expect((await health.of(webhook, later)).lastHour).toEqual({ succeeded: 1, failed: 0 });
    // A later attempt removes the counts of earlier hours, and of minutes after a clock that was set back.
    await count(postgres, [outcome(id, true, later)]);
    expect(await postgres.query("SELECT * FROM attempt_counts WHERE webhook = $1", [id])).toHaveLength(2);
    await count(postgres, [outcome(id, false)]);
    expect((await health.of(webhook, later)).lastHour).toEqual({ succeeded: 0, failed: 0 });
    expect((await health.of(webhook, NOW_MS)).lastHour).toEqual({ succeeded: 0, failed: 1 });
    expect((await health.of({ id: 999, enabled: true }, NOW_MS)).queued).toBe(0);
  });

  test("A webhook is failing by its last attempt, or by most attempts of the last minutes.", async () => {
    const { postgres, add } = await openRegister(databases);
    const health = new HealthRows(new PostgresStore(postgres));
    const id = await add();
    const failingOf = async (changes: object = {}, nowMs = NOW_MS) =>
      (await health.of({ id, enabled: true, ...changes }, nowMs)).failing;
    await count(postgres, [outcome(id, true), outcome(id, false)]);
    expect(await failingOf()).toBeUndefined();
    await count(postgres, [outcome(id, false)]);
    expect(await failingOf()).toEqual({});
    expect(await failingOf({}, NOW_MS + 5 * MINUTE_MS)).toBeUndefined();
    await insertDeliveries(postgres, id, 1, { ...RETRY, reason: "HTTP 500" });
    await insertDeliveries(postgres, id, 1, { ...RETRY, next_attempt_ms: NOW_MS + 1, reason: "HTTP 502" });
    await postgres.query("UPDATE webhooks SET failures = 1, failing_since_ms = $1", [NOW_MS]);
    const failing = { reason: "HTTP 502", sinceMs: NOW_MS, nextAttemptMs: NOW_MS };
    expect(await failingOf({}, NOW_MS + 5 * MINUTE_MS)).toEqual(failing);
    expect(await failingOf({ enabled: false })).toBeUndefined();
    expect(await failingOf({ suspended: { reason: "gone", sinceMs: NOW_MS } })).toBeUndefined();
  });

  test("Attempts at a former target, or before a pause or a suspension ended, do not count.", async () => {
    const { postgres, commands, add } = await openRegister(databases);
    const health = new HealthRows(new PostgresStore(postgres));
    const id = await add();
    const counted = async () => (await health.of({ id, enabled: true }, NOW_MS)).lastHour.failed;
    const change = async (work: Promise<unknown>, expected: number) => {
      await work;
      expect(await counted()).toBe(expected);
      await count(postgres, [outcome(id, false)]);
    };
    await change(commands.update(id, { changes: { name: "mine" } }), 0);
    await change(commands.update(id, { changes: { enabled: false } }), 1);
    await change(commands.update(id, { changes: { enabled: true } }), 0);
    await change(commands.resume(id), 1);
    await suspend(postgres, id);
    await change(commands.resume(id), 0);
    await suspend(postgres, id);
    await change(commands.update(id, { changes: {} }), 0);
    await change(commands.update(id, { changes: { target: "https://other.example/" } }), 0);
  });

  test("Totals count webhooks by state, and the pending deliveries of all of them.", async () => {
    const { postgres, commands, add } = await openRegister(databases);
    const health = new HealthRows(new PostgresStore(postgres));
    const none = { active: 0, failing: 0, paused: 0, suspended: 0, queued: 0 };
    expect(await health.totals(NOW_MS)).toEqual(none);
    const [active, recent, failing, suspended, removed] = [
      await add(),
      await add(),
      await add(),
      await add(),
      await add(),
    ];
    const paused = await add({ enabled: false });
    await count(postgres, [outcome(active, true), outcome(active, false), outcome(recent, false)]);
    await postgres.query("UPDATE webhooks SET failures = 1 WHERE id = ANY ($1)", [[failing, paused]]);
    await suspend(postgres, suspended);
    await insertDeliveries(postgres, active, 2);
    await insertDeliveries(postgres, active, 2, RETRY);
    await insertDeliveries(postgres, paused, 3, {}, "replay");
    await insertDeliveries(postgres, removed, 5);
    await commands.remove(removed);
    expect(await health.totals(NOW_MS)).toEqual({
      active: 1,
      failing: 2,
      paused: 1,
      suspended: 1,
      queued: 7,
    });
    expect(await health.totals(NOW_MS + 5 * MINUTE_MS)).toMatchObject({ active: 2, failing: 1 });
  });

  test("Figures of queues count every lane, and the oldest live delivery; those that are off have none.", async () => {
    const { postgres, commands, add } = await openRegister(databases);
    const figures = new DeliveryFigures(new PostgresStore(postgres));
    const [first, retry, replay, off, removed] = [
      await add(),
      await add(),
      await add(),
      await add({ enabled: false }),
      await add(),
    ];
    await add();
    expect(await figures.queues()).toEqual(new Map());
    await insertDeliveries(postgres, first, 2, { created_ms: NOW_MS - 5 });
    await insertDeliveries(postgres, first, 1, { created_ms: NOW_MS });
    await insertDeliveries(postgres, first, 2, { ...RETRY, created_ms: NOW_MS - 4 });
    await insertDeliveries(postgres, first, 7, { state: "delivered", created_ms: NOW_MS - 9 });
    await insertDeliveries(postgres, retry, 1, { created_ms: NOW_MS });
    await insertDeliveries(postgres, retry, 1, { ...RETRY, created_ms: NOW_MS - 7 });
    await insertDeliveries(postgres, replay, 3, {}, "replay");
    for (const id of [off, removed]) await insertDeliveries(postgres, id, 1);
    await commands.remove(removed);
    expect(await figures.queues()).toEqual(
      new Map([
        [first, { waiting: 3, retrying: 2, replaying: 0, oldestMs: NOW_MS - 5 }],
        [retry, { waiting: 1, retrying: 1, replaying: 0, oldestMs: NOW_MS - 7 }],
        [replay, { waiting: 0, retrying: 0, replaying: 3 }],
      ]),
    );
  });

  test("Figures of webhooks count states, deliveries and the events before the position of every shard.", async () => {
    const { postgres, add } = await openRegister(databases);
    const figures = new DeliveryFigures(new PostgresStore(postgres));
    const none = { active: 0, disabled: 0, suspended: 0, fired: 0, unmatched: 0 };
    expect(await figures.webhooks()).toEqual(none);
    const [active, disabled, suspended] = [await add(), await add({ enabled: false }), await add()];
    await suspend(postgres, suspended);
    await insertDeliveries(postgres, active, 3);
    await postgres.query("UPDATE queues SET last_sequence = 2 WHERE webhook = $1", [active]);
    await postgres.query(
      `INSERT INTO events (sequence, id, name, created_ms) SELECT n, n, 'a', $1::bigint + n FROM generate_series(1, 9) AS n`,
      [NOW_MS],
    );
    await postgres.query("UPDATE event_log SET last_sequence = 9");
    await postgres.query("UPDATE shard_positions SET matched = CASE WHEN shard = 5 THEN 6 ELSE 9 END");
    expect(await figures.webhooks()).toMatchObject({ unmatched: 0 });
    await ownByWorkers(postgres);
    expect(await figures.webhooks()).toEqual({
      ...{ active: 1, disabled: 1, suspended: 1, fired: 3 },
      ...{ unmatched: 3, unmatchedSinceMs: NOW_MS + 7 },
    });
    expect(await figures.fired()).toEqual(
      new Map([
        [active, 2],
        [disabled, 0],
        [suspended, 0],
      ]),
    );
  });
});
