/** Splitting of bulk work into parts, between which the thread has time for requests. */
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import type { WebhookObserver } from "../../src/webhooks/collaborators.ts";
import { always, blockApplied, createService, settle } from "../../test-support/webhooks/support.ts";

const WEBHOOKS = 300;

test("Outcomes of many requests that end simultaneously are written in several ticks.", async () => {
  const hanging = Promise.withResolvers<Error>();
  const perRun = [0];
  const observer: WebhookObserver = {
    attempted: () => void perRun.push(present(perRun.pop()) + 1),
    decided: () => {},
    runEnded: () => void perRun.push(0),
  };
  const { webhooks, emit, calls, database } = createService({ reply: () => hanging.promise, observer });
  for (let count = 0; count < WEBHOOKS; count++) await webhooks.register.create(always());
  await emit(blockApplied(1));
  for (let tick = 0; calls.length < WEBHOOKS && tick < 100; tick++) await settle();
  expect(calls).toHaveLength(WEBHOOKS);
  hanging.resolve(new Error("no response within 10000 ms"));
  for (let tick = 0; tick < 20; tick++) await settle();
  expect(perRun.reduce((sum, count) => sum + count)).toBe(WEBHOOKS);
  expect(Math.max(...perRun)).toBeLessThanOrEqual(100);
  const retries = database.prepare<{ total: number }>("SELECT sum(retrying) AS total FROM queues");
  expect(present(retries.get()).total).toBe(WEBHOOKS);
});

test.each([0, 3])(
  "An event with %i confirmations is inserted into the queues of many webhooks in several steps.",
  async (confirmations) => {
    const { webhooks, database, eventLog, emit, calls } = createService({ options: { maxConcurrent: 0 } });
    for (let count = 0; count < WEBHOOKS; count++)
      await webhooks.register.create({ ...always(), confirmations });
    const written = database.prepare<{ total: number }>(
      confirmations > 0
        ? "SELECT count(*) AS total FROM unconfirmed_events"
        : "SELECT count(*) AS total FROM deliveries",
    );
    const totals = new Set<number>();
    database.transaction(() => eventLog.append([blockApplied(1)]));
    webhooks.notify();
    for (let tick = 0; tick < 50; tick++) {
      await setImmediate();
      totals.add(present(written.get()).total);
    }
    expect([...totals].filter((total) => total > 0)).toEqual([100, 200, WEBHOOKS]);
    // Each exactly once, however many steps, and no work is left.
    for (let height = 2; height <= 1 + confirmations; height++) await emit(blockApplied(height));
    for (let tick = 0; calls.length < WEBHOOKS && tick < 100; tick++) await settle();
    const first = calls.filter(({ message }) => message.height === 1);
    expect(new Set(first.map(({ message }) => message.webhookId)).size).toBe(WEBHOOKS);
    expect(first).toHaveLength(WEBHOOKS);
    expect(eventLog.cursor("webhooks")).toBe(eventLog.lastSequence());
  },
);

test("Failed deliveries that are sent again are read in parts, however old they are.", async () => {
  const { webhooks, emit, clock, database } = createService({
    reply: () => 500,
    options: { retryPausesMs: [] },
  });
  await webhooks.register.create(always());
  await emit(blockApplied(1));
  database.execute(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)
     INSERT INTO deliveries (webhook, id, sequence, event, target_number, content, created_ms, state, finished_ms)
     SELECT 1, 'old' || i, 1 + i, event, 1, content, 5, 'failed', 5 FROM deliveries JOIN n WHERE number = 1`,
  );
  let others = 0;
  const count = () => {
    others++;
    timer = globalThis.setImmediate(count);
  };
  let timer = globalThis.setImmediate(count);
  expect(await webhooks.log.retryAll("1", { since: clock.nowMs() })).toEqual({ retried: 1 });
  clearImmediate(timer);
  // 500 at once: 2,000 are four parts, and one query that finds no more.
  expect(others).toBeGreaterThanOrEqual(4);
});
