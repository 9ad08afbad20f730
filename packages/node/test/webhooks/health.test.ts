/** Health of webhooks, as the API reports it. */
import { expect, test } from "vitest";
import { blockApplied, createTestClock, type Reply } from "../../test-support/webhooks/support.ts";
import { serve } from "./serve.ts";

async function start(clock = createTestClock()) {
  const replies: { all: Reply } = { all: 200 };
  const service = await serve(undefined, { clock, reply: () => replies.all });
  await service.create({ event: "block.applied", conditions: [{ key: "id", condition: "ne", value: "" }] });
  const summary = async () => (await service.ask("GET", "/api/webhooks/1/deliveries/summary")).body.data;
  const webhook = async () => (await service.ask("GET", "/api/webhooks/1?health=true")).body.data;
  const totals = async () => (await service.ask("GET", "/api/webhooks/health")).body.data;
  return { ...service, replies, summary, webhook, totals };
}

test("A webhook whose attempts fail is failing, with the reason, regardless of earlier outcomes.", async () => {
  const { emit, replies, summary, webhook, totals, clock, ask } = await start();
  await emit(blockApplied(1));
  expect(await summary()).toMatchObject({
    state: "active",
    queued: 0,
    lastHour: { succeeded: 1, failed: 0 },
  });
  replies.all = 500;
  for (let height = 2; height <= 30; height++) await emit(blockApplied(height));
  const failing = { reason: "HTTP 500", since: expect.any(Number), nextAttemptAt: expect.any(Number) };
  expect(await webhook()).toMatchObject({ enabled: true, queued: 29, failing });
  expect((await ask("GET", "/api/webhooks?health=true")).body.data).toMatchObject([
    { id: 1, queued: 29, failing },
  ]);
  expect(await summary()).toMatchObject({
    state: "failing",
    queued: 29,
    failing,
    lastHour: { succeeded: 1, failed: 20 },
  });
  expect(await totals()).toEqual({ active: 0, failing: 1, paused: 0, suspended: 0, queued: 29 });
  expect((await ask("GET", "/api/webhooks?state=failing")).body.meta.totalCount).toBe(1);
  expect((await ask("GET", "/api/webhooks?state=active")).body.meta.totalCount).toBe(0);
  replies.all = 200;
  await clock.advance(600_000);
  expect(await webhook()).not.toHaveProperty("failing");
  expect(await summary()).toMatchObject({ state: "active", queued: 0 });
  await clock.advance(3_600_000);
  expect((await summary()).lastHour).toEqual({ succeeded: 0, failed: 0 });
});

test("Most attempts of some minutes determine the state if some succeed.", async () => {
  const { emit, replies, summary, totals, ask } = await start();
  for (let height = 1; height <= 9; height++) {
    replies.all = height % 3 === 0 ? 200 : 500;
    await emit(blockApplied(height));
  }
  expect(await summary()).toMatchObject({ state: "failing", lastHour: { succeeded: 3, failed: 6 } });
  expect(await totals()).toMatchObject({ active: 0, failing: 1 });
  expect((await ask("GET", "/api/webhooks?state=failing")).body.meta.totalCount).toBe(1);
});

test("Another target starts without the failures of the former one.", async () => {
  const { emit, replies, summary, ask } = await start();
  replies.all = 500;
  await emit(blockApplied(1));
  expect(await summary()).toMatchObject({ state: "failing" });
  replies.all = 200;
  await ask("PUT", "/api/webhooks/1", { body: { target: "https://other.example/" } });
  expect(await summary()).toMatchObject({ state: "active" });
});

test("A disabled webhook is paused or suspended, and not failing.", async () => {
  const { emit, replies, summary, totals, ask } = await start();
  replies.all = 410;
  await emit(blockApplied(1));
  expect(await summary()).toMatchObject({ state: "suspended" });
  await ask("PUT", "/api/webhooks/1", { body: { enabled: false } });
  expect(await summary()).toMatchObject({ state: "paused" });
  expect(await totals()).toEqual({ active: 0, failing: 0, paused: 1, suspended: 0, queued: 0 });
});

test("Attempts with a future time do not count, and are dropped.", async () => {
  const time = createTestClock();
  let backMs = 0;
  const { emit, summary, database } = await start({ ...time, nowMs: () => time.nowMs() - backMs });
  await emit(blockApplied(1));
  backMs = 86_400_000;
  expect(await summary()).toMatchObject({ lastHour: { succeeded: 0, failed: 0 } });
  await emit(blockApplied(2));
  expect(await summary()).toMatchObject({ lastHour: { succeeded: 1, failed: 0 } });
  expect(database.prepare("SELECT * FROM attempt_counts").all()).toHaveLength(1);
});

test("The health of all webhooks requires the token.", async () => {
  const { ask } = await start();
  expect((await ask("GET", "/api/webhooks/health", { headers: {} })).status).toBe(401);
});
