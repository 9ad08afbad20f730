import { setImmediate as tick } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { createSchedule, type Schedule } from "../../../src/webhooks/delivery/schedule.ts";

let runs: number;
let timers: { delayMs: number; fire: () => void }[];
let schedule: Schedule;

beforeEach(() => {
  runs = 0;
  timers = [];
  const clock = {
    after(delayMs: number, work: () => void) {
      const remove = () => {
        timers = timers.filter((other) => other !== timer);
      };
      const timer = {
        delayMs,
        fire() {
          remove();
          work();
        },
      };
      timers.push(timer);
      return remove;
    },
  };
  schedule = createSchedule(clock, () => void runs++);
});

const delays = () => timers.map(({ delayMs }) => delayMs);

test("Calls of one tick are one run.", async () => {
  schedule.wake();
  schedule.wake();
  expect(runs).toBe(0);
  await tick();
  expect(runs).toBe(1);
});

test("A later time replaces the one before, and a run makes both of no effect.", async () => {
  schedule.wakeAfter(500);
  schedule.wakeAfter(100);
  schedule.wakeWithin(2);
  schedule.wakeWithin(9);
  expect(delays()).toEqual([100, 2]);
  timers[1]!.fire();
  await tick();
  expect([runs, delays()]).toEqual([1, []]);
});

test("Without a time only a call wakes it.", () => {
  schedule.wakeAfter(500);
  schedule.wakeAfter(undefined);
  expect(delays()).toEqual([]);
});

test("Further work is done in the next tick, unless a run comes before it.", async () => {
  let done = 0;
  schedule.continueWith(() => void done++);
  expect(schedule.isContinuing()).toBe(true);
  await tick();
  expect([done, schedule.isContinuing()]).toEqual([1, false]);
  schedule.continueWith(() => void done++);
  schedule.wake();
  await tick();
  expect([done, runs, schedule.isContinuing()]).toEqual([1, 1, false]);
});

test("During a pause nothing wakes it, and a run follows.", async () => {
  schedule.pause(1_000);
  schedule.wake();
  schedule.continueWith(() => void runs++);
  await tick();
  expect(runs).toBe(0);
  timers[0]!.fire();
  await tick();
  expect(runs).toBe(1);
});

test("Closed, it neither runs nor keeps a timer.", async () => {
  schedule.wake();
  schedule.wakeAfter(100);
  schedule.close();
  schedule.wake();
  schedule.wakeWithin(2);
  schedule.pause(1_000);
  await tick();
  expect([runs, delays()]).toEqual([0, []]);
});
