/** Periodic checks that run while there is something to check. */
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { Checks } from "../../../src/http/connections/bounds.ts";

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

test("Without anything to check there is no timer, before and after.", () => {
  let left = 2;
  const checks = new Checks(() => --left > 0, 100);
  expect(vi.getTimerCount()).toBe(0);
  checks.begin();
  checks.begin();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(100);
  expect([left, vi.getTimerCount()]).toEqual([1, 1]);
  vi.advanceTimersByTime(100);
  expect([left, vi.getTimerCount()]).toEqual([0, 0]);
});

test("Checks start again, and end when they are closed.", () => {
  let count = 0;
  const checks = new Checks(() => {
    count++;
    return false;
  }, 100);
  checks.begin();
  vi.advanceTimersByTime(1_000);
  checks.begin();
  vi.advanceTimersByTime(1_000);
  expect(count).toBe(2);
  checks.begin();
  checks.close();
  vi.advanceTimersByTime(1_000);
  expect(count).toBe(2);
});
