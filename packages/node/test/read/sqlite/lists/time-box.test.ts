import { expect, test } from "vitest";
import { SnapshotError } from "../../../../src/read/port.ts";
import { TimeBox } from "../../../../src/read/sqlite/lists/time-box.ts";

/** A time box with a clock that moves on request. */
function boxOf(maxMs: number) {
  let nowMs = 1_000;
  const time = new TimeBox(maxMs, () => nowMs);
  time.begin();
  return {
    time,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("Reads that exceed their time limit end, and others continue.", () => {
  const { time, pass } = boxOf(20);
  for (let step = 0; step < 5; step++) {
    pass(4);
    expect(time.check()).toBe(4);
  }
  pass(1);
  expect(() => time.check()).toThrow(SnapshotError);
  time.begin();
  pass(4);
  expect(time.check()).toBe(4);
});

test("Without any time, the first check ends the reads.", () => {
  expect(() => boxOf(-1).time.check()).toThrow(SnapshotError);
});

test("The time in which the machine was busy with other processes does not count.", () => {
  const { time, pass } = boxOf(50);
  pass(200);
  expect(time.check()).toBe(200);
});
