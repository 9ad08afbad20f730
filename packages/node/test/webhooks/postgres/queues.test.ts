/** Queues in PostgreSQL that are finished, restarted or replayed step by step. */
import { describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import type { Finish } from "../../../src/webhooks/model/deliveries.ts";
import { PostgresStore } from "../../../src/webhooks/postgres/sql.ts";
import { IS_ON } from "../../../src/webhooks/storage/lanes.ts";
import {
  beginFinish,
  beginRestart,
  type FinishStep,
  finishStep,
  scheduleFinish,
} from "../../../src/webhooks/storage/queues.ts";
import { advanceReplay, lockReplay, ReplayRows } from "../../../src/webhooks/storage/replays.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { NOW_MS } from "../queue-port/subject.ts";
import {
  ALL_SHARDS,
  countStates,
  insertDeliveries,
  openRegister,
  takeChanges,
  untilBlocked,
} from "./open.ts";

const FAILED: Finish = { state: "failed", reason: "too many failures", withUnconfirmed: true };
const RETRY = { next_attempt_ms: NOW_MS, attempts: 3, reason: "HTTP 500" };
const MAX_STEPS = 20;

const schedule = (postgres: Postgres, webhook: number, finish = FAILED): Promise<void> =>
  new PostgresStore(postgres).write((sql) => scheduleFinish(sql, webhook, finish));

/** Returns the webhooks of the steps until none follows; undefined for a step that leaves rows. */
async function walk(step: () => Promise<FinishStep>): Promise<(number | undefined)[]> {
  const webhooks: (number | undefined)[] = [];
  for (;;) {
    const { webhook, more } = await step();
    if (!more) return webhooks;
    webhooks.push(webhook);
    expect(webhooks.length).toBeLessThan(MAX_STEPS);
  }
}

const isOn = async ({ query }: Postgres, webhook: number): Promise<boolean> =>
  (await query(`SELECT 1 FROM webhooks WHERE id = $1 AND ${IS_ON}`, [webhook])).length > 0;

async function insertUnconfirmed({ query }: Postgres, webhook: number, count: number): Promise<void> {
  await query(
    `INSERT INTO unconfirmed_events SELECT $1, sequence, 'a', 'id', 'a', 1, 'block', NULL
     FROM generate_series(1, $2::integer) AS sequence`,
    [webhook, count],
  );
}

describe.skipIf(!hasPostgres)("queues in PostgreSQL", () => {
  const databases = useDatabases();

  describe("a queue that is finished", () => {
    test("A queue that is finished ends step by step, in all lanes, and stays off until then.", async () => {
      const { postgres, add } = await openRegister(databases);
      const [id, other] = [await add(), await add()];
      await insertDeliveries(postgres, id, 2_500);
      await insertDeliveries(postgres, id, 1_200, RETRY);
      await insertDeliveries(postgres, id, 5, {}, "replay");
      await insertDeliveries(postgres, id, 2, { ...RETRY, reverts: "fact" });
      await insertDeliveries(postgres, other, 3);
      await insertUnconfirmed(postgres, id, 1_500);
      await schedule(postgres, id);
      const [last] = await insertDeliveries(postgres, id, 1);
      await insertUnconfirmed(postgres, other, 1);
      expect(await isOn(postgres, id)).toBe(false);
      expect(await walk(() => finishStep(new PostgresStore(postgres), ALL_SHARDS, NOW_MS + 9))).toEqual([
        undefined,
        undefined,
        id,
      ]);
      expect(await isOn(postgres, id)).toBe(true);
      expect(await countStates(postgres, id)).toEqual({ failed: 3_705, pending: 3 });
      expect(await countStates(postgres, other)).toEqual({ pending: 3 });
      const failed = await postgres.query(
        `SELECT DISTINCT next_attempt_ms, reason, finished_ms FROM deliveries WHERE state = 'failed'`,
      );
      expect(failed).toEqual([
        { next_attempt_ms: null, reason: FAILED.reason, finished_ms: `${NOW_MS + 9}` },
      ]);
      const pending = await postgres.query<{ number: string }>(
        "SELECT number FROM deliveries WHERE webhook = $1 AND state = 'pending' AND reverts IS NULL",
        [id],
      );
      expect(pending).toEqual([{ number: `${last}` }]);
      expect(await postgres.query("SELECT webhook FROM unconfirmed_events")).toEqual([
        { webhook: `${other}` },
      ]);
    });

    test("A queue that is finished ends at once if it is short, with its retractions if they are obsolete.", async () => {
      const { postgres, add } = await openRegister(databases);
      const id = await add();
      await insertDeliveries(postgres, id, 3);
      await insertDeliveries(postgres, id, 1, { reverts: "fact" });
      const finish: Finish = { state: "cancelled", reason: "updated", withRetractions: true };
      await new PostgresStore(postgres).write((sql) => beginFinish(sql, id, finish, NOW_MS));
      expect(await countStates(postgres, id)).toEqual({ cancelled: 4 });
      expect(await finishStep(new PostgresStore(postgres), ALL_SHARDS, NOW_MS)).toEqual({ more: false });
    });

    test("A queue that is finished ends by the last schedule, with retractions if any schedule includes them.", async () => {
      const { postgres, add } = await openRegister(databases);
      const id = await add();
      await insertDeliveries(postgres, id, 1);
      await schedule(postgres, id, { state: "cancelled", reason: "updated", withRetractions: true });
      await insertDeliveries(postgres, id, 1, { reverts: "fact" });
      await schedule(postgres, id);
      expect(await walk(() => finishStep(new PostgresStore(postgres), ALL_SHARDS, NOW_MS))).toEqual([id]);
      expect(await countStates(postgres, id)).toEqual({ failed: 2 });
    });

    test("A queue that is finished is left to the owner of its shard.", async () => {
      const { postgres, add } = await openRegister(databases);
      const ids = [await add(), await add(), await add()];
      for (const id of ids) await schedule(postgres, id);
      const [first = 0, second = 0] = ids;
      expect(await walk(() => finishStep(new PostgresStore(postgres), [second % 32], NOW_MS))).toEqual([
        second,
      ]);
      const others = ALL_SHARDS.filter((shard) => shard !== first % 32);
      expect(await walk(() => finishStep(new PostgresStore(postgres), others, NOW_MS))).toEqual([ids[2]]);
    });

    test("A queue that is finished keeps the outcome of an attempt that ends meanwhile.", async () => {
      const { postgres, add } = await openRegister(databases);
      const id = await add();
      const [number] = await insertDeliveries(postgres, id, 1_500);
      await schedule(postgres, id);
      const { step } = await postgres.transaction("READ WRITE", async ({ change }) => {
        await change("UPDATE deliveries SET state = 'delivered' WHERE number = $1", [present(number)]);
        const step = finishStep(new PostgresStore(postgres), ALL_SHARDS, NOW_MS);
        await untilBlocked(postgres);
        return { step };
      });
      // The step found as many rows as it may change: more may follow.
      expect(await step).toEqual({ more: true });
      expect(await walk(() => finishStep(new PostgresStore(postgres), ALL_SHARDS, NOW_MS))).toEqual([id]);
      expect(await countStates(postgres, id)).toEqual({ delivered: 1, failed: 1_499 });
    });

    test("A queue that is finished is unknown after the removal of its webhook.", async () => {
      const { postgres, commands, add } = await openRegister(databases);
      const id = await add();
      await insertDeliveries(postgres, id, 1);
      await commands.remove(id);
      await schedule(postgres, id);
      expect(await finishStep(new PostgresStore(postgres), ALL_SHARDS, NOW_MS)).toEqual({ more: false });
      expect(await countStates(postgres, id)).toEqual({ pending: 1 });
    });
  });

  describe("a queue that restarts", () => {
    test("A queue that restarts makes retries first attempts again, step by step, also those of a replay.", async () => {
      const { postgres, add } = await openRegister(databases);
      const [id, other] = [await add(), await add()];
      await insertDeliveries(postgres, id, 2_500, RETRY);
      await insertDeliveries(postgres, id, 3, RETRY, "replay");
      await insertDeliveries(postgres, id, 1, { ...RETRY, state: "failed" });
      await insertDeliveries(postgres, other, 1, RETRY);
      await new PostgresStore(postgres).write((sql) => beginRestart(sql, id));
      expect(await isOn(postgres, id)).toBe(false);
      expect(await finishStep(new PostgresStore(postgres), [other % 32], NOW_MS)).toEqual({ more: false });
      expect(await walk(() => finishStep(new PostgresStore(postgres), ALL_SHARDS, NOW_MS))).toEqual([
        undefined,
        id,
      ]);
      expect(await isOn(postgres, id)).toBe(true);
      const rows = await postgres.query(
        `SELECT webhook, state, next_attempt_ms IS NULL AS is_first, attempts, reason, count(*)::integer AS total
         FROM deliveries GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3`,
      );
      const { attempts, reason } = RETRY;
      expect(rows).toEqual([
        { webhook: `${id}`, state: "failed", is_first: false, attempts, reason, total: 1 },
        { webhook: `${id}`, state: "pending", is_first: true, attempts: 0, reason: null, total: 2_503 },
        { webhook: `${other}`, state: "pending", is_first: false, attempts, reason, total: 1 },
      ]);
    });

    test("A queue that restarts is complete at once if it is short.", async () => {
      const { postgres, commands, add } = await openRegister(databases);
      const id = await add();
      await insertDeliveries(postgres, id, 900, RETRY);
      await commands.resume(id);
      expect(await isOn(postgres, id)).toBe(true);
      expect(await finishStep(new PostgresStore(postgres), ALL_SHARDS, NOW_MS)).toEqual({ more: false });
    });
  });

  describe("a replay", () => {
    const range = { fromHeight: 3, toHeight: 9 };
    const end = { nextHeight: 10, nextIndex: 0, events: 4 };
    const advance = (postgres: Postgres, webhook: number, position = end) =>
      new PostgresStore(postgres).write((sql) => advanceReplay(sql, webhook, position));

    test("A replay starts once, after the last delivery, and replaces one that has ended.", async () => {
      const { postgres, webhooks, add } = await openRegister(databases);
      const replays = new ReplayRows(new PostgresStore(postgres));
      const id = await add();
      expect(await replays.find(id)).toBeUndefined();
      const [, lastDelivery] = await insertDeliveries(postgres, id, 2);
      const started = await Promise.all([1, 2, 3].map(() => replays.start(id, range, NOW_MS)));
      expect(started.filter(Boolean)).toHaveLength(1);
      expect(await takeChanges(postgres)).toEqual([[id, false]]);
      const replay = {
        ...{ webhook: id, ...range, nextHeight: 3, nextIndex: 0, events: 0, lastDelivery },
        ...{ state: "running", startedMs: NOW_MS },
      };
      expect(await replays.find(id)).toEqual({ ...replay, waiting: 0 });
      expect(await webhooks.find(id)).toMatchObject({ replay: { ...range, nextHeight: 3 } });
      await advance(postgres, id);
      const locked = await new PostgresStore(postgres).write((sql) => lockReplay(sql, id));
      expect(locked).toEqual({ ...replay, ...end });
      await replays.finish(id, NOW_MS + 5);
      await replays.finish(id, NOW_MS + 6);
      expect(await replays.find(id)).toMatchObject({ state: "finished", finishedMs: NOW_MS + 5 });
      expect(await webhooks.find(id)).not.toHaveProperty("replay");
      expect(await replays.start(id, { fromHeight: 1, toHeight: 2 }, NOW_MS + 7)).toBe(true);
      const again = { fromHeight: 1, toHeight: 2, nextHeight: 1, startedMs: NOW_MS + 7 };
      expect(await replays.find(id)).toEqual({ ...replay, ...again, waiting: 0 });
    });

    test("A replay of each owned webhook gets its turn, unless too many deliveries wait or the webhook is off.", async () => {
      const { postgres, commands, add } = await openRegister(databases);
      const [a, b, c, d] = [await add(), await add(), await add(), await add()];
      const replays = new ReplayRows(new PostgresStore(postgres), () => [a % 32, b % 32, c % 32]);
      for (const id of [a, b, c, d]) await replays.start(id, range, NOW_MS);
      const turns = async (count: number, maxWaiting = 2) => {
        const ids: number[] = [];
        for (let after = 0; ids.length < count; after = ids.at(-1) ?? 0) {
          const next = await replays.next(after, maxWaiting);
          if (!next) break;
          ids.push(next.webhook);
        }
        return ids;
      };
      expect(await turns(5)).toEqual([a, b, c, a, b]);
      await insertDeliveries(postgres, a, 3, {}, "replay");
      await commands.update(b, { changes: { enabled: false } });
      expect(await turns(2)).toEqual([c, c]);
      expect(await turns(3, 3)).toEqual([a, c, a]);
      // A replay that has read all blocks is finished after its last delivery.
      await advance(postgres, a);
      await advance(postgres, c);
      expect(await turns(2, 9)).toEqual([c, c]);
    });

    test("A replay that is cancelled cancels its pending deliveries, and no other.", async () => {
      const { postgres, add } = await openRegister(databases);
      const replays = new ReplayRows(new PostgresStore(postgres));
      const id = await add();
      await replays.start(id, range, NOW_MS);
      await insertDeliveries(postgres, id, 5, {}, "replay");
      await insertDeliveries(postgres, id, 1, { state: "delivered" }, "replay");
      await insertDeliveries(postgres, id, 2);
      expect(await replays.find(id)).toMatchObject({ waiting: 5 });
      await takeChanges(postgres);
      await replays.cancel(id, NOW_MS + 1);
      expect(await takeChanges(postgres)).toEqual([[id, false]]);
      const cancelled = { state: "cancelled", reason: "by request", finishedMs: NOW_MS + 1, waiting: 0 };
      expect(await replays.find(id)).toMatchObject(cancelled);
      expect(await countStates(postgres, id)).toEqual({ cancelled: 5, delivered: 1, pending: 2 });
    });

    test("A replay of a removed webhook does not start.", async () => {
      const { postgres, commands, add } = await openRegister(databases);
      const replays = new ReplayRows(new PostgresStore(postgres));
      const id = await add();
      await commands.remove(id);
      await replays.start(id, range, NOW_MS);
      expect(await replays.find(id)).toBeUndefined();
    });
  });
});
