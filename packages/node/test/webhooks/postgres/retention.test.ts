/** Retention of deliveries on PostgreSQL, in steps. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { migrate } from "../../../src/postgres/migrations.ts";
import type { DeliveryRetention } from "../../../src/webhooks/model/deliveries.ts";
import { PostgresStore } from "../../../src/webhooks/postgres/sql.ts";
import { DeliveryLogRows } from "../../../src/webhooks/storage/delivery-log.ts";
import { RetentionSteps } from "../../../src/webhooks/storage/retention.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import {
  CREATED_MS,
  countRows,
  deliveriesOf,
  insertAttempt,
  insertDeliveries,
  insertWebhook,
  takeChanges,
} from "../../../test-support/webhooks/postgres-rows.ts";

const databases = useDatabases();
const HOUR_MS = 3_600_000;
const KEEP_ALL: DeliveryRetention = {
  maxAgeMs: HOUR_MS,
  maxFailedAgeMs: 2 * HOUR_MS,
  maxDeliveries: 1_000_000,
  maxWaiting: 1_000_000,
  keptBlocks: 0,
};
const DELIVERED = { state: "delivered", finished_ms: CREATED_MS };
const FAILED = { state: "failed", finished_ms: CREATED_MS };
/** Steps that no test needs. */
const MAX_STEPS = 100;

let postgres: Postgres;
let retention: RetentionSteps;
let webhook: number;

const put = (ids: string | readonly string[], columns = {}, own = webhook) =>
  insertDeliveries(postgres, own, [ids].flat(), columns);
const idsOf = (own = webhook) => deliveriesOf(postgres, own, []);

/** Inserts finished deliveries that share one content, or have their own. */
const putMany = (own: number, count: number, state = "delivered", content = "number") =>
  postgres.query(
    `INSERT INTO deliveries (number, webhook, id, sequence, event, target_number, content, state, created_ms, finished_ms)
     SELECT nextval('delivery_numbers'), $1::bigint, $1 || ' ' || number, number, 'block.applied', 1, ${content}, $2, $3::bigint,
       CASE $2 WHEN 'pending' THEN NULL ELSE $3 END
     FROM generate_series(1, $4) AS number`,
    [own, state, CREATED_MS, count],
  );

/** Returns the last numbers of the steps. */
async function dropAll(bounds: Partial<DeliveryRetention>, nowMs: number): Promise<number[]> {
  const steps: number[] = [];
  for (let after = 0; steps.length < MAX_STEPS; ) {
    const last = await retention.dropBehind(after, { ...KEEP_ALL, ...bounds }, nowMs);
    if (last === undefined) return steps;
    steps.push(last);
    after = last;
  }
  throw new Error("the deliveries have no end");
}

describe.skipIf(!hasPostgres)("the retention of deliveries on PostgreSQL", () => {
  beforeEach(async () => {
    postgres = await databases.connect();
    await migrate(postgres);
    retention = new RetentionSteps(new PostgresStore(postgres));
    webhook = await insertWebhook(postgres);
  });
  afterEach(() => postgres.close());

  test("The retention of deliveries drops attempts with their delivery, and a content with its last delivery.", async () => {
    const [a, b] = await put(["a", "b"], DELIVERED);
    const [c] = await put("c", { ...FAILED, content: 1 });
    for (const number of [a, b, c]) await insertAttempt(postgres, present(number));
    const counts = () =>
      Promise.all(["deliveries", "attempts", "contents"].map((table) => countRows(postgres, table)));
    expect(await counts()).toEqual([3, 3, 3]);
    await dropAll({}, CREATED_MS + HOUR_MS + 1);
    expect(await idsOf()).toEqual(["c"]);
    // Nothing refers to the third content from the beginning.
    expect(await counts()).toEqual([1, 1, 2]);
    await dropAll({}, CREATED_MS + 9 * HOUR_MS);
    expect(await counts()).toEqual([0, 0, 1]);
  });

  test("The retention of deliveries keeps the facts of blocks that can still be reverted.", async () => {
    for (let height = 1; height <= 12; height++) await put(`${height}`, { ...DELIVERED, height });
    await put("without a block", DELIVERED);
    await postgres.query(
      "INSERT INTO head VALUES (true, 'network', 10, 'b10', 0, 'ready', 1, 'mirror', now())",
    );
    await dropAll({ keptBlocks: 5 }, CREATED_MS + HOUR_MS + 1);
    expect(await idsOf()).toEqual(["6", "7", "8", "9", "10", "11", "12"]);
    await postgres.query("UPDATE head SET height = 0, id = '0'");
    await dropAll({ keptBlocks: 5 }, CREATED_MS + HOUR_MS + 1);
    expect(await idsOf()).toEqual([]);
  });

  test("The retention continues after the clock was set back, and drops old deliveries after ones with future times.", async () => {
    const future = CREATED_MS + 9 * HOUR_MS;
    await put("future", { ...DELIVERED, created_ms: future, finished_ms: future });
    await put("old", DELIVERED);
    await dropAll({}, CREATED_MS + HOUR_MS + 1);
    expect(await idsOf()).toEqual(["future"]);
  });

  test("The retention of deliveries keeps a delivery that was put into the queue again meanwhile.", async () => {
    const [a] = await put(["a", "b"], DELIVERED);
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
    const requeue = postgres.transaction("READ WRITE", async ({ query }) => {
      await query("SELECT FROM queues FOR UPDATE");
      onLocked();
      await promise;
      await query("UPDATE deliveries SET state = 'pending', finished_ms = NULL WHERE number = $1", [
        present(a),
      ]);
    });
    await locked;
    const dropped = dropAll({}, CREATED_MS + 9 * HOUR_MS);
    await expect.poll(() => countRows(postgres, "pg_locks WHERE NOT granted")).toBeGreaterThan(0);
    resolve();
    await requeue;
    await dropped;
    expect(await deliveriesOf(postgres, webhook)).toEqual(["a pending"]);
  });

  test("The retention of deliveries fails the oldest first attempts of a queue that is too long, in several steps.", async () => {
    const other = await insertWebhook(postgres);
    await put("a");
    await put("retry", { next_attempt_ms: CREATED_MS }, other);
    await putMany(other, 1_203, "pending", "0");
    await postgres.query("UPDATE queues SET last_sequence = 1203 WHERE webhook = $1", [other]);
    await put("replayed", { replay: 1 }, other);
    const next = (after: number, maxWaiting = 3) => retention.nextOverfull(after, maxWaiting);
    expect(await next(0)).toEqual({ webhook: other, surplus: 1_200 });
    expect(await next(0, 0)).toEqual({ webhook, surplus: 1 });
    expect(await next(0, 1_202)).toEqual({ webhook: other, surplus: 1 });
    expect(await next(0, 1_203)).toBeUndefined();
    expect(await next(other)).toBeUndefined();
    const failed: number[] = [];
    for (let surplus = 1_200; surplus > 0; surplus -= failed.at(-1) ?? surplus)
      failed.push(await retention.failSurplus({ webhook: other, surplus }, CREATED_MS + 7));
    expect(failed).toEqual([500, 500, 200]);
    expect(await next(0)).toBeUndefined();
    expect(await takeChanges(postgres)).toEqual([`${other}`]);
    const log = new DeliveryLogRows(new PostgresStore(postgres));
    const { records } = await log.page(other, { state: "pending" }, { limit: 9 });
    expect(records.map(({ id }) => id)).toEqual([
      ...["replayed", ...[1_203, 1_202, 1_201].map((number) => `${other} ${number}`)],
      "retry",
    ]);
    expect((await log.find(other, [`${other} 1`]))[0]).toMatchObject({
      ...{ state: "failed", reason: "the queue was full", finishedMs: CREATED_MS + 7 },
    });
  });

  test("The retention counts the first attempts of a queue in which many later deliveries are finished.", async () => {
    await put("oldest");
    await put(["a", "b", "c"], DELIVERED);
    await put("newest");
    expect(await retention.nextOverfull(0, 2)).toBeUndefined();
    expect(await retention.nextOverfull(0, 1)).toEqual({ webhook, surplus: 1 });
  });

  test("The retention of deliveries drops the deliveries and unconfirmed events of removed webhooks, in steps.", async () => {
    const other = await insertWebhook(postgres);
    await put("kept", {}, other);
    await putMany(webhook, 1_200);
    for (const own of [webhook, other]) {
      await postgres.query(
        `INSERT INTO unconfirmed_events
         SELECT $1, number, 'block.applied', number, 'block.applied', 1, 'b1', NULL FROM generate_series(1, 600) AS number`,
        [own],
      );
    }
    expect(await retention.dropRemoved()).toBe(false);
    await postgres.query("DELETE FROM webhooks WHERE id = $1", [webhook]);
    await postgres.query("INSERT INTO removed_webhooks VALUES ($1)", [webhook]);
    expect(await retention.dropRemoved()).toBe(true);
    expect([
      await countRows(postgres, "deliveries"),
      await countRows(postgres, "unconfirmed_events"),
    ]).toEqual([701, 700]);
    let steps = 1;
    while (await retention.dropRemoved()) expect(steps++).toBeLessThan(MAX_STEPS);
    expect(steps).toBe(4);
    expect([await idsOf(), await idsOf(other)]).toEqual([[], ["kept"]]);
    expect(await countRows(postgres, "unconfirmed_events")).toBe(600);
    expect(await countRows(postgres, "removed_webhooks")).toBe(0);
  });

  test("The retention drops contents whose last deliveries two processes drop at the same time.", async () => {
    const other = await insertWebhook(postgres);
    for (const own of [webhook, other]) await putMany(own, 9);
    await postgres.query("INSERT INTO contents (number) SELECT generate_series(1, 9)");
    await postgres.query("DELETE FROM webhooks WHERE id = $1", [webhook]);
    await postgres.query("INSERT INTO removed_webhooks VALUES ($1)", [webhook]);
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
    // Both have dropped their deliveries before they drop contents, unless one of them waits for the other.
    const holding = postgres.transaction("READ WRITE", async ({ query }) => {
      await query("LOCK TABLE contents IN SHARE MODE");
      onLocked();
      await promise;
    });
    await locked;
    const nowMs = CREATED_MS + 9 * HOUR_MS;
    const steps = [retention.dropRemoved(), retention.dropBehind(9, KEEP_ALL, nowMs)];
    await expect.poll(() => countRows(postgres, "pg_locks WHERE NOT granted")).toBe(2);
    resolve();
    await Promise.all([holding, ...steps]);
    const counts = ["deliveries", "contents"].map((table) => countRows(postgres, table));
    expect(await Promise.all(counts)).toEqual([0, 0]);
  });
});
