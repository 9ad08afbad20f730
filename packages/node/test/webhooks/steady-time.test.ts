import { expect, test } from "vitest";
import { LASTING_MS, SteadyTime } from "../../src/webhooks/collaborators.ts";
import {
  always,
  blockApplied,
  createService,
  createTestClock,
  databasePath,
} from "../../test-support/webhooks/support.ts";

const HOUR_MS = 3_600_000;
const START_MS = 1_700_000_000_000;

function open() {
  const clock = { wallMs: START_MS, passedMs: 0 };
  const steadyTime = new SteadyTime({ nowMs: () => clock.wallMs, elapsedMs: () => clock.passedMs });
  return {
    /** Lets time pass; `stepMs` is by how much the wall time is set meanwhile. */
    pass(ms: number, stepMs = 0): number {
      clock.passedMs += ms;
      clock.wallMs += ms + stepMs;
      return steadyTime.nowMs() - START_MS;
    },
  };
}

test("The steady time ignores a wall time that is wrong for some minutes.", () => {
  const { pass } = open();
  expect(pass(1_000, HOUR_MS)).toBe(1_000);
  expect(pass(LASTING_MS - 1)).toBe(LASTING_MS + 999);
  expect(pass(1, -HOUR_MS)).toBe(LASTING_MS + 1_000);
  expect(pass(LASTING_MS)).toBe(2 * LASTING_MS + 1_000);
});

test("The steady time follows a wall time that stays ahead, and none that was set back.", () => {
  const { pass } = open();
  expect(pass(1_000, HOUR_MS)).toBe(1_000);
  expect(pass(LASTING_MS)).toBe(HOUR_MS + LASTING_MS + 1_000);
  expect(pass(1_000, -HOUR_MS)).toBe(HOUR_MS + LASTING_MS + 2_000);
  expect(pass(2 * LASTING_MS)).toBe(HOUR_MS + 3 * LASTING_MS + 2_000);
});

test("A clock that is wrong for some seconds suspends no webhook, drops no delivery from the log, and pauses no target for longer.", async () => {
  let status = 500;
  const { webhooks, emit, calls, clock, log } = createService({ reply: () => status });
  const { id } = await webhooks.register.create(always());
  await emit(blockApplied(1));
  clock.step(365 * 24 * HOUR_MS);
  await emit(blockApplied(2));
  status = 429;
  await emit(blockApplied(3));
  await clock.advance(1_000);
  clock.step(-365 * 24 * HOUR_MS);
  expect((await webhooks.register.find(`${id}`)).suspended).toBeUndefined();
  expect(log(id, 9)).toHaveLength(3);
  status = 200;
  await clock.advance(60_000);
  expect(log(id, 9).map(({ state }) => state)).toEqual(["delivered", "delivered", "delivered"]);
  expect(calls.length).toBeGreaterThan(5);
});

test.each<[string, number, number]>([
  ["a clock that was days behind at the start", 0, 6 * 24 * HOUR_MS],
  ["a node that was stopped for days", 6 * 24 * HOUR_MS, 0],
])("The first failures after %s suspend no webhook.", async (_, stoppedMs, stepMs) => {
  const path = databasePath();
  const first = createService({ path, reply: () => 500 });
  const { id } = await first.webhooks.register.create(always());
  await first.emit(blockApplied(1));
  await first.close();
  const clock = createTestClock(first.clock.nowMs() + stoppedMs);
  const second = createService({ path, clock, reply: () => 500 });
  second.webhooks.notify();
  await clock.advance(0);
  clock.step(stepMs);
  await clock.advance(2 * LASTING_MS);
  expect(second.calls.length).toBeGreaterThan(2);
  expect((await second.webhooks.register.find(`${id}`)).suspended).toBeUndefined();
});

test("All failed deliveries are sent again after the clock was set back.", async () => {
  let reply = 500;
  const { webhooks, emit, clock, log } = createService({
    options: { retryPausesMs: [1_000] },
    reply: () => reply,
  });
  const { id } = await webhooks.register.create(always());
  await emit(blockApplied(1));
  await clock.advance(1_000);
  expect(log(id, 1)).toMatchObject([{ state: "failed" }]);
  clock.step(-HOUR_MS);
  reply = 200;
  expect(await webhooks.log.retryAll(`${id}`, {})).toEqual({ retried: 1 });
  await clock.advance(0);
  expect(log(id, 1)).toMatchObject([{ state: "delivered" }]);
});

test("A delivery that is sent again while the clock is ahead is sent at once, also if the clock is set back first.", async () => {
  let reply: number | "never" = 500;
  const { webhooks, emit, calls, clock } = createService({ reply: () => reply });
  const { id } = await webhooks.register.create(always());
  await emit(blockApplied(1), blockApplied(2));
  clock.step(HOUR_MS);
  reply = 200;
  const sent = webhooks.log.retryAll(`${id}`, { state: "pending" });
  clock.step(-HOUR_MS);
  await sent;
  await clock.advance(0);
  expect(calls).toHaveLength(4);
});
