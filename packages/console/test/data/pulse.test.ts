import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchNode } from "../../src/data/pulse.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function watch() {
  const state = { isResponding: true, isHidden: false, probes: 0 };
  const calls: string[] = [];
  const ended = new AbortController();
  const probe = async () => {
    state.probes++;
    return state.isResponding;
  };
  const feed = { lose: () => void calls.push("lose"), poll: () => void calls.push("poll") };
  void watchNode(probe, feed, () => state.isHidden, ended.signal);
  return { state, calls, end: () => ended.abort() };
}

test("A lost node is detected within two seconds, and so is its return.", async () => {
  const { state, calls, end } = watch();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(calls).toEqual([]);
  state.isResponding = false;
  await vi.advanceTimersByTimeAsync(1_500);
  expect(calls).toContain("lose");
  expect(calls).not.toContain("poll");
  state.isResponding = true;
  await vi.advanceTimersByTimeAsync(1_500);
  expect(calls.at(-1)).toBe("poll");
  expect(calls.filter((call) => call === "poll")).toHaveLength(1);
  end();
});

test("A hidden page probes nothing.", async () => {
  const { state, end } = watch();
  state.isHidden = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state.probes).toBe(0);
  end();
});
