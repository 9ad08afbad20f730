import { expect, test } from "vitest";
import { EachWebhook } from "../../../src/operations/metrics/webhooks.ts";
import type { WebhookObserver } from "../../../src/webhooks/collaborators.ts";
import { readFired, readQueueFigures, readWebhookFigures, totalOf } from "../../../src/webhooks/figures.ts";
import { runNow, sqlOf } from "../../../src/webhooks/sqlite/sql.ts";
import {
  always,
  blockApplied,
  blockReverted,
  createService,
  settle,
} from "../../../test-support/webhooks/support.ts";

function open(reply: () => number | "never") {
  const seen: unknown[] = [];
  const observer: WebhookObserver = {
    attempted: ({ status }) => void seen.push(status),
    decided: (_webhook, outcome) => void seen.push(outcome),
    runEnded: (error) => void (error && seen.push(error)),
  };
  const service = createService({ reply, observer, options: { retryPausesMs: [1_000] } });
  const sql = sqlOf(service.database);
  const queuesByWebhook = () => runNow(readQueueFigures(sql));
  const queues = () => totalOf(queuesByWebhook().values());
  const fired = () => runNow(readFired(sql));
  return {
    ...service,
    seen,
    queues,
    queuesByWebhook,
    fired,
    figures: () => runNow(readWebhookFigures(sql)),
  };
}

test("Without webhooks all figures are 0.", async () => {
  const { queues, figures } = open(() => 200);
  expect(queues()).toEqual({ waiting: 0, retrying: 0, replaying: 0 });
  expect(figures()).toEqual({ active: 0, disabled: 0, suspended: 0, fired: 0, unmatched: 0 });
});

test("Queues are counted per webhook and in total, and their age is that of the oldest delivery.", async () => {
  const { webhooks, emit, clock, queues, queuesByWebhook, fired, figures } = open(() => 503);
  const startedMs = clock.nowMs();
  const bodies = [always(), { ...always(), order: "strict" }, { ...always(), enabled: "false" }];
  for (const body of bodies) await webhooks.register.create(body);
  await emit(blockApplied(1));
  await clock.advance(10);
  await emit(blockApplied(2));
  // The strict one waits with its second delivery for the retry of its first.
  expect(queues()).toEqual({ waiting: 1, retrying: 3, replaying: 0, oldestMs: startedMs });
  expect(queuesByWebhook()).toEqual(
    new Map([
      [1, { waiting: 0, retrying: 2, replaying: 0, oldestMs: startedMs }],
      [2, { waiting: 1, retrying: 1, replaying: 0, oldestMs: startedMs }],
    ]),
  );
  expect([...fired()]).toEqual([
    [1, 2],
    [2, 2],
    [3, 0],
  ]);
  expect(figures()).toMatchObject({ active: 2, disabled: 1, suspended: 0, fired: 4, unmatched: 0 });
});

test("The queue of a suspended or disabled webhook does not count as a delay.", async () => {
  const { webhooks, emit, queues } = open(() => 410);
  for (let id = 1; id <= 2; id++) await webhooks.register.create(always());
  await emit(blockApplied(1));
  await webhooks.register.update("2", { enabled: true });
  await emit(blockApplied(2));
  await webhooks.register.update("2", { enabled: false });
  // Each must receive it after its return.
  await emit(blockReverted(2), blockReverted(1));
  expect(queues()).toEqual({ waiting: 0, retrying: 0, replaying: 0 });
  await webhooks.register.update("1", { enabled: true });
  expect(queues()).toMatchObject({ waiting: 1 });
});

test("Events that the matcher has not processed yet are counted.", async () => {
  const { webhooks, database, eventLog, clock, figures } = open(() => 200);
  await webhooks.register.create(always());
  const sinceMs = clock.nowMs();
  database.transaction(() => eventLog.append([blockApplied(1), blockApplied(2)]));
  await clock.advance(10);
  expect(figures()).toMatchObject({ unmatched: 2, unmatchedSinceMs: sinceMs });
  webhooks.notify();
  await settle();
  expect(figures()).toMatchObject({ unmatched: 0 });
  expect(figures()).not.toHaveProperty("unmatchedSinceMs");
});

test("Suspended webhooks are counted as such.", async () => {
  const { webhooks, emit, figures } = open(() => 410);
  await webhooks.register.create(always());
  await emit(blockApplied(1));
  expect(figures()).toMatchObject({ active: 0, suspended: 1 });
});

test("The observer is called when deliveries are blocked, and when they continue.", async () => {
  const { webhooks, database, emit, clock, seen } = open(() => 200);
  await webhooks.register.create(always());
  database.execute("ALTER TABLE cursors RENAME TO hidden");
  await emit(blockApplied(1));
  expect(seen).toEqual([expect.objectContaining({ message: expect.stringContaining("cursors") })]);
  database.execute("ALTER TABLE hidden RENAME TO cursors");
  await clock.advance(1_000);
  expect(seen.slice(1)).toEqual([200, "delivered"]);
});

test("The observer is called with every attempt and its outcome.", async () => {
  const responses = [503, 503, 204];
  const { webhooks, emit, clock, seen } = open(() => responses.shift() ?? 200);
  await webhooks.register.create(always());
  await emit(blockApplied(1));
  await clock.advance(5_000);
  expect(seen).toEqual([503, "retried", 503, "failed"]);
  await emit(blockApplied(2));
  expect(seen.slice(4)).toEqual([204, "delivered"]);
});

test("The lines of one metric of all webhooks are together, as Prometheus requires.", () => {
  const fired = new Map([1, 2, 3].map((webhook) => [webhook, 5]));
  const text = new EachWebhook().text({ fired, queues: new Map() }, 0);
  const names = [...text.matchAll(/^\w+/gm)].map(([name]) => name);
  expect(names).toHaveLength(3 * 8);
  expect(names.filter((name, index) => name !== names[index - 1])).toEqual([...new Set(names)]);
});
