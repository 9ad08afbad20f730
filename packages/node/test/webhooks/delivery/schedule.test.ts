import { setImmediate as tick } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { Schedule } from "../../../src/webhooks/delivery/schedule.ts";

let runs: number;
let timers: { delayMs: number; fire: () => void }[];
let schedule: Schedule;
/** Time that each run takes. */
let runMs: number;

beforeEach(() => {
  runs = 0;
  timers = [];
  runMs = 0;
  let elapsedMs = 0;
  const clock = {
    elapsedMs: () => elapsedMs,
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
  schedule = new Schedule(clock, async () => {
    runs++;
    elapsedMs += runMs;
  });
});

const delays = () => timers.map(({ delayMs }) => delayMs);

test("Calls of one tick cause one run.", async () => {
  schedule.notify();
  schedule.notify();
  expect(runs).toBe(0);
  await tick();
  expect(runs).toBe(1);
});

test("After a long run, the event loop turns once per 5 ms of it before the next run.", async () => {
  runMs = 48;
  schedule.notify();
  await tick();
  schedule.notify();
  for (let turns = 0; turns < 9; turns++) await tick();
  expect(runs).toBe(1);
  await tick();
  expect(runs).toBe(2);
  schedule.continueWith(async () => void runs++);
  for (let turns = 0; turns < 9; turns++) await tick();
  expect(runs).toBe(2);
  await tick();
  expect(runs).toBe(3);
});

test("The event loop turns at most 20 times between two runs, because a run also waits for a database.", async () => {
  runMs = 5_000;
  schedule.notify();
  await tick();
  schedule.notify();
  for (let turns = 0; turns < 20; turns++) await tick();
  expect(runs).toBe(2);
});

test("A later time replaces the one before, and a run cancels both.", async () => {
  schedule.notifyAfter(500);
  schedule.notifyAfter(100);
  schedule.notifyWithin(2);
  schedule.notifyWithin(9);
  expect(delays()).toEqual([100, 2]);
  present(timers[1]).fire();
  await tick();
  expect([runs, delays()]).toEqual([1, []]);
});

test("Without a time it runs only when it is notified.", () => {
  schedule.notifyAfter(500);
  schedule.notifyAfter(undefined);
  expect(delays()).toEqual([]);
});

test("Further work is done in the next tick, unless a run precedes it.", async () => {
  let done = 0;
  schedule.continueWith(async () => void done++);
  expect(schedule.isContinuing()).toBe(true);
  await tick();
  expect([done, schedule.isContinuing()]).toEqual([1, false]);
  schedule.continueWith(async () => void done++);
  schedule.notify();
  await tick();
  expect([done, runs, schedule.isContinuing()]).toEqual([1, 1, false]);
});

test("During a pause it does not run, and a run follows the pause.", async () => {
  schedule.pause(1_000);
  schedule.notify();
  schedule.continueWith(async () => void runs++);
  await tick();
  expect(runs).toBe(0);
  present(timers[0]).fire();
  await tick();
  expect(runs).toBe(1);
});

test("After close it neither runs nor has a timer.", async () => {
  schedule.notify();
  schedule.notifyAfter(100);
  schedule.close();
  schedule.notify();
  schedule.notifyWithin(2);
  schedule.pause(1_000);
  await tick();
  expect([runs, delays()]).toEqual([0, []]);
});

test("Notified during a run, it runs once more afterwards.", async () => {
  const ended: (() => void)[] = [];
  const clock = { after: () => () => {}, elapsedMs: () => 0 };
  const slow = new Schedule(clock, () => new Promise((resolve) => ended.push(resolve)));
  slow.notify();
  await tick();
  slow.notify();
  slow.notify();
  await tick();
  expect(ended).toHaveLength(1);
  present(ended[0])();
  await tick();
  await tick();
  expect(ended).toHaveLength(2);
  const closed = slow.close();
  slow.notify();
  present(ended[1])();
  await closed;
  await tick();
  expect(ended).toHaveLength(2);
});
