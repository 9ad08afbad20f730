import { expect, test } from "vitest";
import { SnapshotError } from "../../../../src/read/errors.ts";
import { createTimeBox } from "../../../../src/read/sqlite/lists/time-box.ts";

/** Keeps the processor busy. */
function work(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

test("Reads that exceed their time limit end, and others continue.", () => {
  const time = createTimeBox(20);
  time.begin();
  for (let step = 0; step < 3; step++) {
    work(4);
    expect(time.check()).toBeGreaterThanOrEqual(4);
  }
  const late = () => {
    for (let step = 0; step < 4; step++) {
      work(4);
      time.check();
    }
  };
  expect(late).toThrow(SnapshotError);
  time.begin();
  expect(time.check()).toBeLessThan(4);
});

test("Without any time, the first check ends the reads.", () => {
  const time = createTimeBox(-1);
  time.begin();
  expect(time.check).toThrow(SnapshotError);
});

test("The time in which the machine was busy with other processes does not count.", () => {
  const maxMs = 50;
  const time = createTimeBox(maxMs);
  time.begin();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4 * maxMs);
  expect(time.check()).toBeGreaterThan(maxMs);
});
