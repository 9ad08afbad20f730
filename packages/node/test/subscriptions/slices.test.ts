import { expect, test } from "vitest";
import { Slices } from "../../src/subscriptions/conditions/slices.ts";

const busy = (ms: number) => {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
};
const silent = { spent() {} };

test("Slow subscribers run after all others, and still in each tick.", async () => {
  const slices = new Slices(silent);
  const order: string[] = [];
  const jobs = ["slow 1", "slow 2", "quick 1", "quick 2"].map((name) =>
    slices.run("stream", name.startsWith("slow"), () => void order.push(name)),
  );
  await Promise.all(jobs);
  expect(order).toEqual(["slow 1", "quick 1", "quick 2", "slow 2"]);
});

test("Long work alternates with the rest, and yields between slices.", async () => {
  const slices = new Slices(silent);
  let turns = 0;
  const long = async () => {
    for (let done = 0; done < 20; ) {
      await slices.run("stream", false, (isTimeUp) => {
        turns++;
        while (!isTimeUp()) busy(1);
        done += 1;
      });
    }
  };
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  const both = Promise.all([long(), long()]);
  let quick = 0;
  for (; quick < 5; quick++) await slices.run("stream", false, () => {});
  expect(turns).toBeLessThan(40);
  await both;
  clearInterval(timer);
  expect(turns).toBe(40);
  // Half of the time is theirs.
  expect(ticks).toBeGreaterThan(5);
});

test("Work that throws rejects its own promise only, and its time is counted.", async () => {
  const spent: string[] = [];
  const slices = new Slices({ spent: (kind) => void spent.push(kind) });
  const failing = slices.run("dry-run", false, () => {
    throw new Error("of the work");
  });
  const other = slices.run("stream", false, () => 5);
  await expect(failing).rejects.toThrow("of the work");
  expect(await other).toBe(5);
  expect(spent).toEqual(["dry-run", "stream"]);
});
