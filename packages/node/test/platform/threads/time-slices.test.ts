import { describe, expect, onTestFinished, test, vi } from "vitest";
import { inOneStep, type Steps, TimeSlices } from "../../../src/platform/threads/time-slices.ts";

/** Occupies the thread. */
function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function* work(steps: number, stepMs: number, onStep: (step: number) => void = () => {}): Steps<string> {
  for (let step = 0; step < steps; step++) {
    busy(stepMs);
    onStep(step);
    yield;
  }
  return `${steps} steps`;
}

/** Timers end when the test advances them. */
function stopTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

describe("work in slices", () => {
  test("Work in slices returns to the event loop after each slice.", async () => {
    let ticks = 0;
    let isDone = false;
    const count = () => {
      ticks++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const slices = new TimeSlices({ sliceMs: 3 });
    expect(await slices.run(work(20, 2))).toBe("20 steps");
    isDone = true;
    // Two steps exceed a slice.
    expect(ticks).toBeGreaterThanOrEqual(10);
  });

  test("Work in slices is done in the order of the calls, and one that fails does not affect the others.", async () => {
    const order: string[] = [];
    const slices = new TimeSlices({ sliceMs: 1 });
    const outcomes = await Promise.allSettled([
      slices.run(work(3, 1, (step) => order.push(`a${step}`))),
      slices.run(
        inOneStep(() => {
          order.push("b");
          throw new Error("no");
        }),
      ),
      slices.run(work(2, 1, (step) => order.push(`c${step}`))),
    ]);
    expect(order).toEqual(["a0", "a1", "a2", "b", "c0", "c1"]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  test("Work in slices waits for the pause before a slice, and reports the time of each slice.", async () => {
    let pause = 60_000;
    const durations: number[] = [];
    const slices = new TimeSlices({
      sliceMs: 5,
      pace: {
        pauseMs: () => (pause === 60_000 ? 50 : pause),
        spend(ms) {
          durations.push(ms);
          pause = 0;
        },
      },
    });
    stopTimers();
    const running = slices.run(work(4, 3));
    await vi.advanceTimersByTimeAsync(49);
    expect(durations).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await running;
    expect(durations.length).toBeGreaterThanOrEqual(2);
    expect(durations[0]).toBeGreaterThanOrEqual(5);
  });

  test("Work in slices does not run while it is held, which can begin between two steps of a slice.", async () => {
    let isHeld = true;
    stopTimers();
    const slices = new TimeSlices({ sliceMs: 60_000, isHeld: () => isHeld });
    const done: number[] = [];
    const running = slices.run(
      work(4, 0, (step) => {
        done.push(step);
        isHeld = step === 1;
      }),
    );
    await vi.advanceTimersByTimeAsync(30);
    expect(done).toEqual([]);
    isHeld = false;
    await vi.advanceTimersByTimeAsync(1);
    await expect.poll(() => done).toEqual([0, 1]);
    await vi.advanceTimersByTimeAsync(30);
    expect(done).toEqual([0, 1]);
    isHeld = false;
    await vi.advanceTimersByTimeAsync(1);
    await running;
    expect(done).toEqual([0, 1, 2, 3]);
  });

  test("Work in slices can add more work of its source.", async () => {
    const slices = new TimeSlices({ sliceMs: 5 });
    let added: Promise<string> | undefined;
    const first = slices.run(
      inOneStep(() => {
        added = slices.run(work(2, 1));
        return "first";
      }),
    );
    const second = slices.run(work(1, 1));
    expect(await Promise.all([first, second])).toEqual(["first", "1 steps"]);
    expect(await added).toBe("2 steps");
  });

  test("Work in slices of one source does not delay that of another, and keeps its own order.", async () => {
    const done: string[] = [];
    const slices = new TimeSlices({ sliceMs: 8 });
    const note = (name: string) => () => done.push(name);
    await Promise.all([
      slices.run(work(50, 1), "attacker").then(note("first")),
      slices.run(work(1, 1), "attacker").then(note("second")),
      slices.run(work(2, 1), "peer").then(note("peer")),
    ]);
    expect(done).toEqual(["peer", "first", "second"]);
  });

  test("Work in slices of all queues shares the time of a tick, in turns.", async () => {
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    onTestFinished(() => clock.mockRestore());
    const ticks: number[][] = [[]];
    const count = () => {
      ticks.push([]);
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    onTestFinished(() => clearImmediate(timer));
    function* steps(queue: number): Steps<void> {
      for (let step = 0; step < 5; step++) {
        nowMs += 8;
        ticks.at(-1)?.push(queue);
        yield;
      }
    }
    const queues = [0, 1, 2, 3, 4, 5];
    await Promise.all(queues.map((queue) => new TimeSlices({ sliceMs: 8 }).run(steps(queue))));
    const busyTicks = ticks.filter(({ length }) => length > 0);
    // The third slice begins before the end of the time.
    expect(busyTicks.every(({ length }) => length <= 3)).toBe(true);
    expect(busyTicks.slice(0, 4).flat()).toEqual([...queues, ...queues]);
  });
});
