import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createWriteState, Writes } from "../../../src/store/engine/writes.ts";

const FULL = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
let reported: string[];
beforeEach(() => {
  reported = [];
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

const open = () => {
  const state = createWriteState();
  const thread = (name: string) =>
    new Writes(state, {
      onTrouble: (trouble) => reported.push(`${name}: ${trouble}`),
      onBack: () => reported.push(`${name}: back`),
    });
  return [thread("one"), thread("two")] as const;
};

test("A lasting write failure is reported once by one thread, and its end by the thread that detects it.", () => {
  const [one, two] = open();
  one.failed(FULL);
  two.failed(FULL);
  expect([one.trouble(), two.trouble(), two.failures()]).toEqual(["disk full", "disk full", 2]);
  expect(reported).toEqual([]);
  vi.advanceTimersByTime(10_000);
  one.failed(FULL);
  vi.advanceTimersByTime(10_000);
  expect(reported).toEqual(["one: disk full"]);
  two.worked();
  one.worked();
  expect(reported).toEqual(["one: disk full", "two: back"]);
  expect(one.trouble()).toBeUndefined();
});

test("A write failure that ends soon is not reported, and neither is its end.", () => {
  const [one, two] = open();
  one.failed(FULL);
  two.worked();
  vi.advanceTimersByTime(10_000);
  expect(reported).toEqual([]);
  expect(two.failures()).toBe(1);
});

test("Other errors do not count as write failures of the disk.", () => {
  const [one] = open();
  one.failed(new Error("not unique"));
  vi.advanceTimersByTime(10_000);
  expect([one.trouble(), one.failures(), reported]).toEqual([undefined, 0, []]);
});
