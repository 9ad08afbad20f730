/** The delivery log on PostgreSQL: pages, and deliveries that are sent again or sooner. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { migrate } from "../../../src/postgres/migrations.ts";
import type { DeliveryFilter, DeliveryPage } from "../../../src/webhooks/model/deliveries.ts";
import { PostgresStore } from "../../../src/webhooks/postgres/sql.ts";
import { DeliveryLogRows } from "../../../src/webhooks/storage/delivery-log.ts";
import { insertContents, ROWS_READ_AT_ONCE } from "../../../src/webhooks/storage/delivery-rows.ts";
import {
  insertPing,
  type PingOutcome,
  recordPing as recordSteps,
} from "../../../src/webhooks/storage/pings.ts";
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
const UNKNOWN = 999_999;
const NOW_MS = CREATED_MS + 60_000;
const FAILED = { state: "failed", attempts: 3, reason: "HTTP 500", finished_ms: CREATED_MS + 5 };
const DELIVERED = { state: "delivered", attempts: 1, finished_ms: CREATED_MS + 5 };
const RETRY = { attempts: 2, next_attempt_ms: NOW_MS + 500, reason: "HTTP 500" };

let postgres: Postgres;
let log: DeliveryLogRows;
let webhook: number;

const put = (ids: string | readonly string[], columns = {}, own = webhook) =>
  insertDeliveries(postgres, own, [ids].flat(), columns);
const queue = (own = webhook) => deliveriesOf(postgres, own, ["state", "next_attempt_ms", "replay"]);

/** Reads all pages. */
async function walk(filter: DeliveryFilter, limit: number): Promise<{ sizes: number[]; ids: string[] }> {
  const pages: DeliveryPage[] = [];
  for (let before: number | undefined, isEnd = false; !isEnd; ) {
    const page = await log.page(webhook, filter, { limit, ...(before !== undefined && { before }) });
    pages.push(page);
    before = page.next;
    isEnd = before === undefined;
  }
  return {
    sizes: pages.map(({ records }) => records.length),
    ids: pages.flatMap(({ records }) => records.map(({ id }) => id)),
  };
}

describe.skipIf(!hasPostgres)("the delivery log on PostgreSQL", () => {
  beforeEach(async () => {
    postgres = await databases.connect();
    await migrate(postgres);
    log = new DeliveryLogRows(new PostgresStore(postgres));
    webhook = await insertWebhook(postgres);
  });
  afterEach(() => postgres.close());

  describe("a page", () => {
    test("A page of the log has every column of a delivery, and its attempts in order.", async () => {
      const [a] = await put("a", { ...DELIVERED, height: 7, block_id: "b7", is_retracted: true });
      await insertAttempt(postgres, present(a), { status: null, error: "ECONNRESET" });
      await insertAttempt(postgres, present(a), { started_ms: CREATED_MS - 1, response: "ok" });
      const [b] = await put("b", { ...RETRY, reverts: "a", event: "block.reverted", is_retracted: false });
      await insertAttempt(postgres, present(b));
      const [c] = await put("c", { sequence: null });
      const pending = { event: "block.applied", state: "pending", createdMs: CREATED_MS, attempts: [] };
      const records = [
        { ...pending, number: c, id: "c" },
        {
          ...{ number: b, id: "b", sequence: 2, event: "block.reverted", state: "pending" },
          ...{ reason: "HTTP 500", reverts: "a", createdMs: CREATED_MS, nextAttemptMs: NOW_MS + 500 },
          attempts: [{ startedMs: CREATED_MS, durationMs: 5, status: 200 }],
        },
        {
          ...{ number: a, id: "a", sequence: 1, event: "block.applied", height: 7, blockId: "b7" },
          ...{ state: "delivered", isUndone: true, createdMs: CREATED_MS, finishedMs: CREATED_MS + 5 },
          attempts: [
            { startedMs: CREATED_MS, durationMs: 5, error: "ECONNRESET" },
            { startedMs: CREATED_MS - 1, durationMs: 5, status: 200, response: "ok" },
          ],
        },
      ];
      expect(await log.page(webhook, {}, { limit: 9 })).toEqual({ records });
      expect((await log.find(webhook, [present(a)]))[0]).toEqual(records[2]);
      expect((await log.find(webhook, ["b"]))[0]).toEqual(records[1]);
    });

    test("A page of the log has only deliveries that match all members of the filter.", async () => {
      await put("a", { ...DELIVERED, height: 1 });
      await put("b", { ...FAILED, height: 2, created_ms: CREATED_MS + 1 });
      await put("c", { event: "block.forged", height: 2, created_ms: CREATED_MS + 2 });
      await put("d", { state: "cancelled", finished_ms: CREATED_MS, created_ms: CREATED_MS + 3 });
      await put("other", FAILED, await insertWebhook(postgres));
      const filtered = async (filter: DeliveryFilter) => (await walk(filter, 1)).ids;
      expect(await filtered({ state: "delivered" })).toEqual(["a"]);
      expect(await filtered({ state: "failed" })).toEqual(["b"]);
      expect(await filtered({ state: "pending" })).toEqual(["c"]);
      expect(await filtered({ state: "cancelled" })).toEqual(["d"]);
      expect(await filtered({ event: "block.applied" })).toEqual(["d", "b", "a"]);
      expect(await filtered({ height: 2 })).toEqual(["c", "b"]);
      expect(await filtered({ height: 2, state: "failed" })).toEqual(["b"]);
      expect(await filtered({ fromMs: CREATED_MS + 1, toMs: CREATED_MS + 2 })).toEqual(["c", "b"]);
      expect(await filtered({ state: "failed", fromMs: CREATED_MS + 2 })).toEqual([]);
      expect(await filtered({ event: "a\0" })).toEqual([]);
    });

    test("A page of a long log with few matching rows reads a bounded number of rows, and names the next page.", async () => {
      const total = 2 * ROWS_READ_AT_ONCE + 5_000;
      await postgres.query(
        `INSERT INTO deliveries (number, webhook, id, sequence, event, height, target_number, content, state, created_ms,
           finished_ms)
         SELECT number, $1, number, number, CASE number WHEN 1 THEN 'block.received' ELSE 'block.forged' END,
           CASE WHEN number % 2 = 1 THEN 7 END, 1, 0, CASE number WHEN 3 THEN 'failed' ELSE 'delivered' END, number, number
         FROM generate_series(1, $2) AS number`,
        [webhook, total],
      );
      expect(await walk({ event: "block.received" }, 10)).toEqual({ sizes: [0, 0, 1], ids: ["1"] });
      expect(await walk({ toMs: 2 }, 10)).toEqual({ sizes: [0, 0, 2], ids: ["2", "1"] });
      expect(await walk({ state: "pending" }, 10)).toEqual({ sizes: [0, 0, 0], ids: [] });
      // These filters have an index.
      expect(await walk({ state: "failed" }, 10)).toEqual({ sizes: [1], ids: ["3"] });
      expect(await walk({ height: 8 }, 10)).toEqual({ sizes: [0], ids: [] });
      const { ids } = await walk({ state: "delivered" }, 5_000);
      expect([ids.length, new Set(ids).size, ids.at(-1)]).toEqual([total - 1, total - 1, "1"]);
    });
  });

  test("The delivery log on PostgreSQL finds deliveries of one webhook only, by number or id.", async () => {
    const other = await insertWebhook(postgres);
    const [a] = await put("a");
    expect((await log.find(webhook, ["a"]))[0]).toMatchObject({ number: a });
    for (const key of [UNKNOWN, `${a}`, "b", "a\0", ""]) {
      expect((await log.find(webhook, [key]))[0]).toBeUndefined();
    }
    expect(await log.find(webhook, [present(a), "a", UNKNOWN])).toHaveLength(1);
    expect(await log.find(other, [present(a), "a"])).toEqual([]);
  });

  test("The delivery log on PostgreSQL returns the message of a delivery.", async () => {
    const [a, b] = await put(["a", "b"], { height: 7, block_id: "b7", reverts: "x" });
    await postgres.query(
      "UPDATE contents SET data = NULL, truncated = true, link = '/blocks/7' WHERE data = $1",
      ['{"id":"b"}'],
    );
    const message = {
      ...{ webhook, event: "block.applied", height: 7, blockId: "b7", reverts: "x" },
      timeMs: CREATED_MS,
    };
    expect(await log.message(present(a))).toEqual({
      ...{ ...message, id: "a", sequence: 1 },
      content: { dataText: '{"id":"a"}' },
    });
    expect(await log.message(present(b))).toEqual({
      ...{ ...message, id: "b", sequence: 2 },
      content: { truncated: true, link: "/blocks/7" },
    });
    expect(await log.message(UNKNOWN)).toBeUndefined();
  });

  test("The log reports the latest deliveries, and the age of the oldest pending one, without pings and replays.", async () => {
    expect(await log.latest(webhook, 9)).toEqual({ deliveries: [] });
    await put("a", DELIVERED);
    await put("replayed", { replay: 1, created_ms: 1 });
    await put("ping", { sequence: null, ...DELIVERED });
    await put("other", { created_ms: 2 }, await insertWebhook(postgres));
    const [replayed, delivered] = [
      { state: "pending", createdMs: 1 },
      { state: "delivered", createdMs: CREATED_MS, finishedMs: CREATED_MS + 5 },
    ];
    expect(await log.latest(webhook, 9)).toEqual({ deliveries: [replayed, delivered] });
    await put("retry", { ...RETRY, created_ms: 30 });
    await put("first", { created_ms: 40 });
    await put("second", { created_ms: 20 });
    const latest = await log.latest(webhook, 1);
    expect(latest).toEqual({ deliveries: [{ state: "pending", createdMs: 20 }], oldestWaitingMs: 30 });
  });

  describe("a delivery", () => {
    test("A delivery returns to the queue as a due retry with the full schedule, and the owner is notified.", async () => {
      await postgres.query("UPDATE webhooks SET target_number = 4");
      const [a, b] = await put(["a", "b"], FAILED);
      expect(await log.sendNow(webhook, [present(a)], NOW_MS)).toBe(1);
      expect(await takeChanges(postgres)).toEqual([`${webhook}`]);
      const columns = ["state", "attempts", "next_attempt_ms", "finished_ms", "reason", "target_number"];
      expect(await deliveriesOf(postgres, webhook, columns)).toEqual([
        `a pending 0 ${NOW_MS} - - 4`,
        `b failed 3 - ${CREATED_MS + 5} HTTP 500 1`,
      ]);
      await postgres.query("UPDATE deliveries SET replay = 1, state = 'cancelled' WHERE number = $1", [
        present(b),
      ]);
      expect(await log.sendNow(webhook, [present(b)], NOW_MS)).toBe(1);
      expect(await queue()).toEqual([`a pending ${NOW_MS} -`, `b pending ${NOW_MS} -`]);
    });

    test("A delivery does not return if it is unknown, was retracted, or its webhook was removed.", async () => {
      const [a] = await put("a", { ...DELIVERED, is_retracted: true });
      const [b] = await put("b", { ...DELIVERED, is_retracted: false });
      expect(await log.sendNow(webhook, [UNKNOWN, present(a)], NOW_MS)).toBe(0);
      await postgres.query("DELETE FROM webhooks");
      expect(await log.sendNow(webhook, [present(b)], NOW_MS)).toBe(0);
      expect(await takeChanges(postgres)).toEqual([]);
    });

    test("A delivery that is a retraction returns if its target is still the same, and may have received the fact.", async () => {
      const [fact] = await put("fact", DELIVERED);
      const [a] = await put("a", { ...FAILED, reverts: "fact" });
      const [b] = await put("b", { ...FAILED, reverts: "other's" });
      const [other] = await put("other's", DELIVERED, await insertWebhook(postgres));
      await insertAttempt(postgres, present(other));
      const requeue = async () => [
        await log.sendNow(webhook, [present(a)], NOW_MS),
        await log.sendNow(webhook, [present(b)], NOW_MS),
      ];
      expect(await requeue()).toEqual([0, 0]);
      await insertAttempt(postgres, present(fact));
      await postgres.query("UPDATE webhooks SET target_number = 2");
      expect(await requeue()).toEqual([0, 0]);
      await postgres.query("UPDATE webhooks SET target_number = 1");
      expect(await requeue()).toEqual([1, 0]);
    });
  });

  describe("matching finished deliveries", () => {
    const requeue = (
      filter: Parameters<DeliveryLogRows["requeueMatching"]>[1],
      after = 0,
      limit = 100,
    ): ReturnType<DeliveryLogRows["requeueMatching"]> =>
      log.requeueMatching(webhook, filter, { after, limit }, NOW_MS);

    test("Finished deliveries are selected by state, event, height and time; retractions by the rules of a single one.", async () => {
      const [a, b, c, , e] = [
        await put("a", { ...DELIVERED, height: 1 }),
        await put("b", { ...DELIVERED, height: 2, event: "block.forged" }),
        await put("c", { ...FAILED, created_ms: CREATED_MS + 1 }),
        await put("d", { ...DELIVERED, reverts: "a" }),
        await put("e", { ...DELIVERED, is_retracted: true }),
      ].map(([number]) => present(number));
      expect(await requeue({ state: "cancelled" })).toEqual({ count: 0, last: e });
      expect(await requeue({ state: "delivered", event: "block.applied", height: 2 })).toMatchObject({
        count: 0,
      });
      expect(await requeue({ state: "delivered", toMs: CREATED_MS, event: "block.forged" })).toMatchObject({
        count: 1,
      });
      expect(await requeue({ state: "delivered" }, 0, 2)).toEqual({ count: 1, last: b });
      expect(await requeue({ state: "delivered" }, b)).toEqual({ count: 0, last: e });
      await insertAttempt(postgres, present(a));
      expect(await requeue({ state: "delivered" }, c)).toEqual({ count: 1, last: e });
      expect(await requeue({ state: "failed", fromMs: CREATED_MS + 1, toMs: CREATED_MS + 1 })).toEqual({
        count: 1,
        last: c,
      });
      expect(await deliveriesOf(postgres, webhook)).toEqual([
        ...["a pending", "b pending", "c pending", "d pending"],
        "e delivered",
      ]);
    });
  });

  describe("sending now", () => {
    test("A request to send now makes deliveries of every lane and state due retries, in parallel order.", async () => {
      const numbers = [
        ...(await put("finished", DELIVERED)),
        ...(await put("first")),
        ...(await put("retry", RETRY)),
        ...(await put("replayed", { replay: 1, next_attempt_ms: NOW_MS + 9 })),
        ...(await put("retracted", { ...FAILED, is_retracted: true })),
        ...(await put("foreign", FAILED, await insertWebhook(postgres))),
        UNKNOWN,
      ];
      await put("not selected", RETRY);
      expect(await log.sendNow(webhook, numbers, NOW_MS)).toBe(4);
      expect(await deliveriesOf(postgres, webhook, ["attempts", "next_attempt_ms", "replay"])).toEqual([
        ...["finished", "first", "retry", "replayed"].map((id) => `${id} 0 ${NOW_MS} -`),
        "retracted 3 - -",
        `not selected 2 ${NOW_MS + 500} -`,
      ]);
      expect(await takeChanges(postgres)).toEqual([`${webhook}`]);
    });

    test("A request to send now that selects nothing changes nothing.", async () => {
      const [a] = await put("a", { ...DELIVERED, is_retracted: true });
      expect(await log.sendNow(webhook, [], NOW_MS)).toBe(0);
      expect(await log.sendNow(webhook, [present(a)], NOW_MS)).toBe(0);
      expect(await log.sendNow(UNKNOWN, [present(a)], NOW_MS)).toBe(0);
      expect(await takeChanges(postgres)).toEqual([]);
    });

    test("A request to send now in strict order makes the head of the queue due, and keeps the order.", async () => {
      await postgres.query("UPDATE webhooks SET strict = true");
      await put("head", RETRY);
      await put("replayed", { replay: 1, next_attempt_ms: NOW_MS + 9 });
      await put("due", { ...RETRY, next_attempt_ms: NOW_MS - 1 });
      const [, second] = await put(["second", "third"]);
      const [finished] = await put("finished", FAILED);
      expect(await log.sendNow(webhook, [present(second)], NOW_MS)).toBe(1);
      const attempts = ["attempts", "next_attempt_ms", "replay"];
      const heads = [
        ...[`head 2 ${NOW_MS} -`, `replayed 0 ${NOW_MS} 1`, `due 2 ${NOW_MS - 1} -`],
        ...["second 0 - -", "third 0 - -"],
      ];
      expect(await deliveriesOf(postgres, webhook, attempts)).toEqual([...heads, "finished 3 - -"]);
      expect(await log.sendNow(webhook, [present(finished)], NOW_MS + 1)).toBe(1);
      expect(await deliveriesOf(postgres, webhook, attempts)).toEqual([
        ...heads,
        `finished 0 ${NOW_MS + 1} -`,
      ]);
    });
  });

  describe("matching pending deliveries", () => {
    const expedite = (lane: "first" | "retry" | "replay", filter: object = {}, after = 0, limit = 100) =>
      log.expediteMatching(webhook, lane, filter, { after, limit }, NOW_MS);

    test("Matching pending deliveries of the retries become due, range by range.", async () => {
      const [, b, c] = await put(["a", "b", "c"], RETRY);
      await put("first");
      await put("other", RETRY, await insertWebhook(postgres));
      expect(await expedite("retry", {}, 0, 2)).toEqual({ count: 2, last: b });
      expect(await takeChanges(postgres)).toEqual([`${webhook}`]);
      expect(await expedite("retry", { fromMs: CREATED_MS + 1 }, b)).toEqual({ count: 0, last: c });
      expect(await expedite("retry", {}, c)).toEqual({ count: 0 });
      expect(await takeChanges(postgres)).toEqual([]);
      expect(await deliveriesOf(postgres, webhook, ["attempts", "next_attempt_ms"])).toEqual([
        ...[`a 0 ${NOW_MS}`, `b 0 ${NOW_MS}`, `c 2 ${NOW_MS + 500}`],
        "first 0 -",
      ]);
    });

    test("Matching pending deliveries of the first attempts are counted, and keep their order.", async () => {
      const [a] = await put("a", { height: 7 });
      const [b] = await put("b");
      await put("retry", RETRY);
      expect(await expedite("first", { height: 7 })).toEqual({ count: 1, last: b });
      expect(await takeChanges(postgres)).toEqual([`${webhook}`]);
      expect(await expedite("first", {}, 0, 1)).toEqual({ count: 1, last: a });
      expect(await expedite("first", {}, b)).toEqual({ count: 0 });
      expect(await queue()).toEqual(["a pending - -", "b pending - -", `retry pending ${NOW_MS + 500} -`]);
    });

    test("Matching pending deliveries of a replay keep their positions; those without an attempt are already due.", async () => {
      const [a] = await put("a", { replay: 2 });
      await put("b", { ...RETRY, replay: 1 });
      const [c] = await put("c", { ...RETRY, replay: 3, event: "block.forged" });
      await put("d", { ...DELIVERED, replay: 4 });
      expect(await expedite("replay", {}, 0, 1)).toEqual({ count: 1, last: a });
      expect(await expedite("replay", { event: "block.applied" })).toEqual({ count: 2, last: c });
      expect(await expedite("replay", {}, c)).toEqual({ count: 0 });
      expect(await queue()).toEqual([
        ...["a pending - 2", `b pending ${NOW_MS} 1`, `c pending ${NOW_MS + 500} 3`],
        "d delivered - 4",
      ]);
    });
  });

  describe("while the owner records an outcome", () => {
    /** Runs work while another transaction has changed a delivery, which then ends. */
    async function whileRecording<T>(number: number, change: string, work: () => Promise<T>): Promise<T> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { promise: changed, resolve: onChanged } = Promise.withResolvers<void>();
      const recording = postgres.transaction("READ WRITE", async ({ query }) => {
        await query(`UPDATE deliveries SET ${change} WHERE number = $1`, [number]);
        onChanged();
        await promise;
      });
      await changed;
      const result = work();
      await expect.poll(() => countRows(postgres, "pg_locks WHERE NOT granted")).toBeGreaterThan(0);
      resolve();
      await recording;
      return result;
    }

    test("A request to send now waits for the owner, and repeats a delivery that has just ended or failed.", async () => {
      const delivered = "state = 'delivered', attempts = attempts + 1, finished_ms = 9";
      const postponed = `next_attempt_ms = ${NOW_MS + 900}, attempts = attempts + 1, reason = 'HTTP 500'`;
      const numbers = await put(["a", "b"]);
      for (const [index, change] of [delivered, postponed].entries()) {
        const number = present(numbers[index]);
        const sent = await whileRecording(number, change, () => log.sendNow(webhook, [number], NOW_MS));
        expect(sent).toBe(1);
      }
      expect(await deliveriesOf(postgres, webhook, ["state", "attempts", "next_attempt_ms"])).toEqual([
        `a pending 0 ${NOW_MS}`,
        `b pending 0 ${NOW_MS}`,
      ]);
    });

    test("A retry that has just been delivered is not made due while the owner records the outcome.", async () => {
      const [a] = await put(["a"], RETRY);
      const change = "state = 'delivered', next_attempt_ms = NULL, finished_ms = 9";
      const matched = await whileRecording(present(a), change, () =>
        log.expediteMatching(webhook, "retry", {}, { after: 0, limit: 9 }, NOW_MS),
      );
      expect(matched).toEqual({ count: 0, last: a });
      expect(await queue()).toEqual(["a delivered - -"]);
    });

    test("A finished delivery that a replay has just queued again is not queued twice while the owner records.", async () => {
      const [a] = await put(["a"], FAILED);
      const change = "state = 'pending', replay = 1, finished_ms = NULL, attempts = 0";
      const requeued = await whileRecording(present(a), change, () =>
        log.requeueMatching(webhook, { state: "failed" }, { after: 0, limit: 9 }, NOW_MS),
      );
      expect(requeued).toEqual({ count: 0, last: a });
      expect(await queue()).toEqual(["a pending - 1"]);
    });

    test("A requeue locks an earlier note of a change, which the owner then removes only after the commit.", async () => {
      const [a] = await put("a", FAILED);
      await postgres.query("INSERT INTO queue_changes VALUES ($1, false)", [webhook]);
      const { promise, resolve } = Promise.withResolvers<void>();
      const holding = postgres.transaction("READ WRITE", async ({ query }) => {
        await query("SELECT FROM queue_changes FOR UPDATE");
        await promise;
      });
      const requeued = log.sendNow(webhook, [present(a)], NOW_MS);
      await expect.poll(() => countRows(postgres, "pg_locks WHERE NOT granted")).toBeGreaterThan(0);
      resolve();
      await holding;
      expect(await requeued).toBe(1);
      expect(await takeChanges(postgres)).toEqual([`${webhook}`]);
    });
  });

  test("The delivery log on PostgreSQL stores contents in the order of their numbers.", async () => {
    const contents = Array.from({ length: 1_000 }, (_, index) => ({ dataText: `"${index}\\u0000"` }));
    const numbers = await new PostgresStore(postgres).write((sql) =>
      insertContents(sql, [...contents, { truncated: true, link: "/blocks/1" }, {}]),
    );
    const rows = await postgres.query("SELECT data, truncated, link FROM contents ORDER BY number");
    expect(numbers).toHaveLength(1_002);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(rows.slice(-3)).toEqual([
      { data: contents.at(-1)?.dataText, truncated: null, link: null },
      { data: null, truncated: true, link: "/blocks/1" },
      { data: null, truncated: null, link: null },
    ]);
    expect(rows.slice(0, -2)).toMatchObject(contents.map(({ dataText }) => ({ data: dataText })));
    const none = await new PostgresStore(postgres).write((sql) => insertContents(sql, []));
    expect(none).toEqual([]);
  });

  describe("a ping", () => {
    const attempt = {
      ...{ startedMs: CREATED_MS, durationMs: 5, status: 500, response: "no\0body" },
      responseHeaders: "server: nginx",
    };
    const recorded = {
      id: "ping",
      createdMs: CREATED_MS,
      dataText: "{}",
      attempt,
      finishedMs: CREATED_MS + 5,
    };

    test("A ping that was sent is in the log with its outcome.", async () => {
      const recordPing = (ping: PingOutcome) =>
        new PostgresStore(postgres).write((sql) => recordSteps(sql, ping));
      const number = await recordPing({ webhook, ...recorded, failure: "HTTP 500: no\0body" });
      expect((await log.find(webhook, [number]))[0]).toEqual({
        ...{ number, id: "ping", event: "ping", state: "failed", reason: "HTTP 500: no\uFFFDbody" },
        ...{ createdMs: CREATED_MS, finishedMs: CREATED_MS + 5 },
        attempts: [{ ...attempt, response: "no\uFFFDbody" }],
      });
      expect(await log.message(number)).toEqual({
        ...{ webhook, id: "ping", event: "ping", timeMs: CREATED_MS },
        content: { dataText: "{}" },
      });
      const delivered = await recordPing({ webhook, ...recorded, id: "second" });
      expect((await log.find(webhook, [delivered]))[0]).toMatchObject({ state: "delivered" });
      const removed = await recordPing({ ...recorded, webhook: UNKNOWN, id: "third" });
      expect(removed).toBeGreaterThan(delivered);
    });

    test("A ping of a new webhook is its first delivery.", async () => {
      await postgres.query("UPDATE webhooks SET target_number = 3");
      const ping = { id: "ping", event: "ping", createdMs: CREATED_MS, content: { dataText: "{}" } };
      await new PostgresStore(postgres).write((sql) => insertPing(sql, { ...ping, webhook }));
      const columns = ["sequence", "state", "target_number", "attempts", "next_attempt_ms"];
      expect(await deliveriesOf(postgres, webhook, columns)).toEqual(["ping - pending 3 0 -"]);
      expect((await log.find(webhook, ["ping"]))[0]).toMatchObject({ event: "ping", attempts: [] });
    });
  });
});
