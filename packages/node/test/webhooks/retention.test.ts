import { describe, expect, test } from "vitest";
import type { Database } from "../../src/store/engine/database.ts";
import type { DeliveryRetention } from "../../src/webhooks/model/deliveries.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../../src/webhooks/options.ts";
import {
  always,
  blockApplied,
  createService,
  createTestClock,
  type Reply,
  raiseChain,
  type ServiceOptions,
} from "../../test-support/webhooks/support.ts";

const HOUR_MS = 3_600_000;

const createRetaining = (retention: Partial<DeliveryRetention>, reply?: ServiceOptions["reply"]) =>
  createService({
    options: { retention: { ...DEFAULT_WEBHOOK_OPTIONS.retention, ...retention } },
    ...(reply && { reply }),
  });

const blocks = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => blockApplied(from + index));

const rowsOf = (database: Database, table: string) =>
  database.prepare<{ total: number }>(`SELECT count(*) AS total FROM ${table}`).get()?.total;

describe("retention", () => {
  test("Retention stores one content for all deliveries of an event, until the last of them is dropped.", async () => {
    const { webhooks, emit, clock, log, database } = createRetaining(
      { maxAgeMs: HOUR_MS, maxFailedAgeMs: 3 * HOUR_MS },
      ({ message }) => (message.webhookId === 2 ? 410 : 200),
    );
    for (let id = 1; id <= 2; id++) await webhooks.register.create(always());
    await emit(...blocks(1, 3));
    expect([rowsOf(database, "deliveries"), rowsOf(database, "contents")]).toEqual([6, 3]);
    await clock.advance(2 * HOUR_MS);
    await emit(blockApplied(4));
    await clock.advance(1_000);
    expect(log(2, 9).map(({ height }) => height)).toEqual([3, 2, 1]);
    expect(rowsOf(database, "contents")).toBe(4);
    await clock.advance(2 * HOUR_MS);
    await emit(blockApplied(5));
    await clock.advance(1_000);
    expect([rowsOf(database, "deliveries"), rowsOf(database, "contents")]).toEqual([1, 1]);
  });

  test("Retention drops deliveries that finished long ago, failed ones later, and never queued ones.", async () => {
    const replies: Record<number, Reply> = { 1: 200, 2: 500, 3: 200, 4: 410 };
    const { webhooks, emit, clock, log } = createRetaining(
      { maxAgeMs: 10 * HOUR_MS, maxFailedAgeMs: 100 * HOUR_MS },
      ({ message }) => replies[message.height as number] ?? 200,
    );
    const gone = await webhooks.register.create(always());
    await emit(...blocks(1, 4));
    const other = await webhooks.register.create(always());
    const states = (id: number) => log(id, 9).map(({ height, state }) => [height, state]);
    // The queued one failed with its webhook.
    expect(states(gone.id)).toEqual([
      [4, "failed"],
      [3, "delivered"],
      [2, "failed"],
      [1, "delivered"],
    ]);
    await clock.advance(10 * HOUR_MS + 1);
    await emit(blockApplied(2));
    await clock.advance(1_000);
    expect(states(gone.id)).toEqual([
      [4, "failed"],
      [2, "failed"],
    ]);
    expect(states(other.id)).toEqual([[2, "pending"]]);
    await clock.advance(90 * HOUR_MS);
    await emit(blockApplied(7));
    await clock.advance(1_000);
    expect(states(gone.id)).toEqual([]);
    expect(states(other.id)).toEqual([
      [7, "delivered"],
      [2, "failed"],
    ]);
  });

  test("Retention drops the oldest deliveries beyond the bound, in steps, with their attempts.", async () => {
    const { webhooks, emit, clock, log, database } = createRetaining({ maxDeliveries: 10 });
    const { id } = await webhooks.register.create(always());
    await emit(...blocks(1, 1_100));
    for (let second = 0; second < 70; second++) await clock.advance(1_000);
    await emit(blockApplied(2_000));
    await clock.advance(1_000);
    const heights = log(id, 99).map(({ height }) => height);
    expect(heights).toEqual([
      2_000,
      ...blocks(1_092, 1_100)
        .map(({ height }) => height)
        .reverse(),
    ]);
    expect(["attempts", "contents"].map((table) => rowsOf(database, table))).toEqual([10, 10]);
  });

  test("Retention keeps the facts of blocks that can still be reverted.", async () => {
    const { webhooks, emit, clock, log, database } = createRetaining({ maxAgeMs: HOUR_MS, keptBlocks: 5 });
    raiseChain(database, 12);
    const { id } = await webhooks.register.create(always());
    await emit(...blocks(1, 12));
    await clock.advance(2 * HOUR_MS);
    await emit(blockApplied(13));
    await clock.advance(1_000);
    expect(log(id, 99).map(({ height }) => height)).toEqual([13, 12, 11, 10, 9, 8]);
  });

  test("Retention fails the oldest deliveries of a queue that is too long.", async () => {
    const { webhooks, emit, clock, log } = createRetaining({ maxWaiting: 1 }, () => "never");
    const { id } = await webhooks.register.create(always());
    await emit(...blocks(1, 3));
    await clock.advance(1_000);
    expect(log(id, 9).map(({ state, reason }) => [state, reason])).toEqual([
      ["pending", undefined],
      ["failed", "the queue was full"],
      ["failed", "the queue was full"],
    ]);
  });

  test("Retention drops the deliveries of a removed webhook.", async () => {
    const { webhooks, emit, clock, database } = createRetaining({}, () => 500);
    const { id } = await webhooks.register.create(always());
    await webhooks.register.create(always());
    await emit(...blocks(1, 3));
    await webhooks.register.remove(`${id}`);
    await clock.advance(61_000);
    expect(["deliveries", "removed_webhooks"].map((table) => rowsOf(database, table))).toEqual([3, 0]);
  });

  test("Retention continues after the clock was set back, and drops old deliveries after ones with future times.", async () => {
    const time = createTestClock();
    let backMs = 0;
    const clock = { ...time, nowMs: () => time.nowMs() - backMs };
    const retention = { ...DEFAULT_WEBHOOK_OPTIONS.retention, maxAgeMs: HOUR_MS };
    const { webhooks, emit, log } = createService({ clock, options: { retention } });
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await time.advance(1_000);
    backMs = 1_000 * HOUR_MS;
    await emit(blockApplied(2));
    await time.advance(2 * HOUR_MS);
    await emit(blockApplied(3));
    await time.advance(1_000);
    expect(log(1, 9).map(({ height }) => height)).toEqual([3, 1]);
  });
});
