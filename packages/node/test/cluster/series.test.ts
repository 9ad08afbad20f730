/** Series of seeds: which seeds run, and what remains of an interrupted series. */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NO_COUNTS } from "../../test-support/cluster/report.ts";
import {
  appendResult,
  lineOf,
  readResults,
  resultOfError,
  type SeedResult,
  seedsOf,
  summaryOf,
} from "../../test-support/cluster/series.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-series-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const passed: SeedResult = {
  ...{ seed: 3, seconds: 120, faults: [], busyRounds: 0, durationSeconds: 170.4 },
  ...{ counts: { ...NO_COUNTS, expected: 1_200, arrived: 1_200, repeated: 7 }, reads: 5_000, wrongReads: 0 },
  occurrences: { "worker killed": 2, "disk full": 1 },
};
const failed: SeedResult = {
  ...passed,
  ...{ seed: 4, faults: ["msg_1 never arrived", "lag"], wrongReads: 1 },
  counts: { ...NO_COUNTS, expected: 100, arrived: 99, lost: 1 },
};

test("The options name one seed, or several in a row.", () => {
  expect(seedsOf({ seed: "7", count: "1" })).toEqual([7]);
  expect(seedsOf({ seed: "7", count: "3" })).toEqual([7, 8, 9]);
  expect(seedsOf({ seed: "7", seeds: "1-4", count: "1" })).toEqual([1, 2, 3, 4]);
  for (const seeds of ["4-1", "1", "a-b", ""])
    expect(() => seedsOf({ seed: "7", seeds, count: "1" })).toThrow("--seeds A-B");
  for (const seed of ["x", "1.5"]) expect(() => seedsOf({ seed, count: "1" })).toThrow("--seed N");
  expect(() => seedsOf({ seed: "7", count: "0" })).toThrow("--count K");
});

test("A file of results has those of an interrupted series, of runs of the same duration.", () => {
  const file = join(folder, "results.jsonl");
  expect(readResults(file, 120).size).toBe(0);
  appendResult(file, passed);
  appendResult(file, failed);
  appendResult(file, { ...passed, seed: 5, seconds: 30 });
  expect(readResults(file, 120)).toEqual(
    new Map([
      [3, passed],
      [4, failed],
    ]),
  );
});

test("The last line of a file of results may be incomplete: its seed runs again.", () => {
  const file = join(folder, "results.jsonl");
  appendResult(file, passed);
  appendFileSync(file, '{"seed":4,"sec');
  expect([...readResults(file, 120).keys()]).toEqual([3]);
  appendResult(file, failed);
  expect([...readResults(file, 120).keys()]).toEqual([3, 4]);
});

test("Each seed has a line, and failed seeds have the command that repeats them.", () => {
  expect(lineOf(passed)).toBe(
    "seed 3: 0 lost, 0 duplicated, 0 out of order, 0 wrong reads " +
      "(1,200 of 1,200 deliveries, 5,000 reads, 3 faults injected, 170 s)",
  );
  expect(lineOf(failed)).toContain("seed 4: FAILED with 2 faults: 1 lost");
  expect(lineOf(failed)).toContain("first: msg_1 never arrived");
  const ended = resultOfError(5, new Error("the mirror does not follow"), {
    seconds: 120,
    durationSeconds: 9,
  });
  expect(summaryOf([passed, failed, ended])).toEqual([
    "1 of 3 seeds passed: 1,300 deliveries expected, 1,299 arrived, 1 lost, 0 duplicated, 0 out of order; " +
      "10,000 reads, 1 wrong",
    "seed 4 failed: npm run cluster -- --seed 4 --seconds 120",
    "seed 5 failed: npm run cluster -- --seed 5 --seconds 120",
  ]);
  expect(summaryOf([failed], ["disk full"]).at(-1)).toBe(
    'seed 4 failed: npm run cluster -- --seed 4 --seconds 120 --only "disk full"',
  );
});
