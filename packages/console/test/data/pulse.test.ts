import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchNode } from "../../src/data/pulse.ts";

beforeEach(() => {
  vi.useFakeTimers();
  // The timers of the engine do not follow those of the test.
  vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    const timeout = new AbortController();
    setTimeout(() => timeout.abort(), ms);
    return timeout.signal;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Watches a node that needs `responseMs`, or hangs. */
function watch({ responseMs = 20, firstMs = 20 } = {}) {
  const state = { responseMs, isHanging: false, isRefusing: false, isHidden: false, probes: 0 };
  const calls: string[] = [];
  const ended = new AbortController();
  const probe = (signal: AbortSignal) => {
    state.probes++;
    return new Promise<boolean>((resolve) => {
      if (state.isRefusing) resolve(false);
      else if (!state.isHanging) setTimeout(() => resolve(true), state.responseMs);
      signal.addEventListener("abort", () => resolve(false));
    });
  };
  const feed = { lose: () => void calls.push("lose"), poll: () => void calls.push("poll") };
  void watchNode(probe, feed, () => state.isHidden, ended.signal, firstMs);
  return { state, calls, end: () => ended.abort() };
}

test.each([0, 1_000, 5_000])(
  "A node that hangs after %i ms is lost within four seconds, and returns.",
  async (afterMs) => {
    const { state, calls, end } = watch();
    await vi.advanceTimersByTimeAsync(afterMs);
    expect(calls).toEqual([]);
    state.isHanging = true;
    await vi.advanceTimersByTimeAsync(4_000);
    expect(calls).toEqual(["lose"]);
    state.isHanging = false;
    await vi.advanceTimersByTimeAsync(8_000);
    expect(calls.filter((call) => call === "poll")).toHaveLength(1);
    expect(calls.at(-1)).toBe("poll");
    end();
  },
);

test("A slow node is not lost, and is watched closely again when it is fast.", async () => {
  const { state, calls, end } = watch({ responseMs: 4_500, firstMs: 3_500 });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(calls).toEqual([]);
  state.responseMs = 20;
  await vi.advanceTimersByTimeAsync(9_000);
  state.isHanging = true;
  await vi.advanceTimersByTimeAsync(4_000);
  expect(calls).toEqual(["lose"]);
  end();
});

test("A node behind a network that becomes slow is not lost; one that refuses connections is lost within two seconds.", async () => {
  const { state, calls, end } = watch({ responseMs: 20, firstMs: 20 });
  await vi.advanceTimersByTimeAsync(5_000);
  state.responseMs = 1_500;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(calls).toEqual([]);
  state.isRefusing = true;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(calls).toContain("lose");
  end();
});

test("A hidden page probes nothing.", async () => {
  const { state, end } = watch();
  state.isHidden = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state.probes).toBe(0);
  end();
});
