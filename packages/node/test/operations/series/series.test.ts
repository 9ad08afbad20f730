import { expect, onTestFinished, test, vi } from "vitest";
import { FIGURE_NAMES, Sampling, Series, sampleRegularly } from "../../../src/operations/series.ts";
import { REPORT } from "../../../test-support/http/fixture.ts";

test("A full series drops the oldest sample, and is read in order.", () => {
  const series = new Series(3);
  for (const height of [1, 2, 3, 4, 5]) series.add(height * 10, { height });
  const { times, figures } = series.since(-1);
  expect(times).toEqual([30, 40, 50]);
  expect(figures.height).toEqual([3, 4, 5]);
});

test("Only samples after a time are read, and every figure has a value for each.", () => {
  const series = new Series(10);
  for (const height of [1, 2, 3]) series.add(height * 10, { height });
  const { times, figures } = series.since(20);
  expect(times).toEqual([30]);
  expect(Object.keys(figures)).toEqual([...FIGURE_NAMES]);
  for (const name of FIGURE_NAMES) expect(figures[name]).toEqual([name === "height" ? 3 : null]);
  expect(series.since(30).times).toEqual([]);
});

/** Node whose figures a test changes. */
function sampled() {
  const series = new Series(10);
  const node = {
    report: REPORT as typeof REPORT | undefined,
    transactions: 100,
    fired: 10,
    oldestMs: undefined as number | undefined,
    unmatchedSinceMs: undefined as number | undefined,
  };
  const sampling = new Sampling({
    series,
    report: async () => node.report,
    transactions: async () => node.transactions,
    deliveries: {
      webhooks: async () => ({
        active: 1,
        disabled: 0,
        suspended: 0,
        fired: node.fired,
        unmatched: 0,
        ...(node.unmatchedSinceMs !== undefined && { unmatchedSinceMs: node.unmatchedSinceMs }),
      }),
      queues: async () =>
        new Map([
          [
            1,
            {
              waiting: 2,
              retrying: 3,
              replaying: 4,
              ...(node.oldestMs !== undefined && { oldestMs: node.oldestMs }),
            },
          ],
        ]),
    },
    freeBytes: () => undefined,
    streams: () => 7,
    usage: () => ({ residentBytes: 1_000, processorMicroseconds: 5 }),
    nowMs: () => 50_999,
  });
  return { node, sample: () => sampling.sample(), read: () => series.since(-1) };
}

test("Rates need two samples, and unknown values are null.", async () => {
  const { node, sample, read } = sampled();
  await sample();
  node.transactions += 1_000;
  node.report = { ...REPORT, missed: REPORT.missed + 2, forged: REPORT.forged + 1 };
  await sample();
  const { times, figures } = read();
  expect(times).toEqual([50, 50]);
  expect(figures.transactionsPerSecond[0]).toBeNull();
  expect(figures.transactionsPerSecond[1]).toBeGreaterThan(0);
  expect(figures.deliveriesPerSecond).toEqual([null, 0]);
  expect(figures.slotsMissed).toEqual([null, 2]);
  expect(figures.slotsForged).toEqual([null, 1]);
  expect(figures.freeDiskBytes).toEqual([null, null]);
  expect(figures.deliveriesWaiting).toEqual([5, 5]);
  expect(figures.streams).toEqual([7, 7]);
});

test("A node whose consensus does not respond leaves a gap, and the rest is present.", async () => {
  const { node, sample, read } = sampled();
  await sample();
  node.report = undefined;
  await sample();
  node.report = REPORT;
  await sample();
  const { figures } = read();
  expect(figures.height).toEqual([REPORT.height, null, REPORT.height]);
  expect(figures.residentBytes).toEqual([1_000, 1_000, 1_000]);
  // Changes since the missing sample are unknown.
  expect(figures.slotsMissed).toEqual([null, null, null]);
});

test("A reorganisation that reverts transactions does not yield a negative rate.", async () => {
  const { node, sample, read } = sampled();
  await sample();
  node.transactions -= 50;
  await sample();
  expect(read().figures.transactionsPerSecond).toEqual([null, 0]);
});

test("The lag is the age of the oldest pending one, and never negative.", async () => {
  const { node, sample, read } = sampled();
  await sample();
  node.oldestMs = 48_999;
  node.unmatchedSinceMs = 90_000;
  await sample();
  expect(read().figures.deliveryLagSeconds).toEqual([0, 2]);
  expect(read().figures.matchingLagSeconds).toEqual([0, 0]);
});

test("A sample that fails is reported, unless it was closed meanwhile: the databases are closed then.", async () => {
  const faults: unknown[] = [];
  const reports: PromiseWithResolvers<void>[] = [];
  const sample = () => {
    const report = Promise.withResolvers<void>();
    reports.push(report);
    return report.promise;
  };
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const sampling = sampleRegularly(sample, 1, (error) => faults.push(error));
  reports[0]?.reject("a full disk");
  await vi.advanceTimersByTimeAsync(1);
  expect(reports.length).toBe(2);
  expect(faults).toEqual(["a full disk"]);
  sampling.close();
  reports[1]?.reject("the connection is not open");
  await vi.advanceTimersByTimeAsync(20);
  expect([faults, reports.length]).toEqual([["a full disk"], 2]);
});
