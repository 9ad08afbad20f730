import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLoop } from "../../src/forger/loop.ts";

let runs: number;
/** Ends the run under way with the delay of the next one. */
let end: (delayMs: number) => void;
let loop: ReturnType<typeof createLoop>;

beforeEach(() => {
  vi.useFakeTimers();
  runs = 0;
  loop = createLoop(() => {
    runs++;
    return new Promise((resolve) => {
      end = resolve;
    });
  });
});
afterEach(() => vi.useRealTimers());

test("Each run chooses when the next one begins.", async () => {
  loop.start(100);
  await vi.advanceTimersByTimeAsync(99);
  expect(runs).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toBe(1);
  end(50);
  await vi.advanceTimersByTimeAsync(50);
  expect(runs).toBe(2);
});

test("A run is woken early, and never while one is under way.", async () => {
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

test("A pause waits for the run under way and holds until the loop is resumed, also over a start.", async () => {
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
