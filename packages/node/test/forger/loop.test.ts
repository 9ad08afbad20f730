import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Loop } from "../../src/forger/loop.ts";

let runs: number;
/** Ends the current run with the delay of the next one. */
let end: (delayMs: number) => void;
let loop: Loop;

beforeEach(() => {
  vi.useFakeTimers();
  runs = 0;
  loop = new Loop(() => {
    runs++;
    return new Promise((resolve) => {
      end = resolve;
    });
  });
});
afterEach(() => vi.useRealTimers());

test("Each run chooses the time of the next one.", async () => {
  loop.start(100);
  await vi.advanceTimersByTimeAsync(99);
  expect(runs).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toBe(1);
  end(50);
  await vi.advanceTimersByTimeAsync(50);
  expect(runs).toBe(2);
});

test("A run can be woken early, but never while another one runs.", async () => {
  loop.start(1_000);
  loop.runNow();
  await vi.advanceTimersByTimeAsync(0);
  expect(runs).toBe(1);
  loop.runNow();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(runs).toBe(1);
});

test("Nothing runs before the start.", async () => {
  loop.runNow();
  loop.resume();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(runs).toBe(0);
});

test("A pause waits for the current run and lasts until the loop is resumed, also over a start.", async () => {
  loop.start(0);
  await vi.advanceTimersByTimeAsync(0);
  let isPaused = false;
  const pausing = loop.pause().then(() => {
    isPaused = true;
  });
  await vi.advanceTimersByTimeAsync(10);
  expect(isPaused).toBe(false);
  end(0);
  await pausing;
  loop.start(0);
  loop.runNow();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(runs).toBe(1);
  loop.resume();
  await vi.advanceTimersByTimeAsync(0);
  expect(runs).toBe(2);
});

test("A stopped loop never runs again.", async () => {
  loop.start(100);
  await loop.stop();
  expect(loop.isStopped()).toBe(true);
  loop.resume();
  loop.runNow();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(runs).toBe(0);
});
