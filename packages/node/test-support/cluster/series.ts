/** Several seeds, one after the other, each with its own cluster; results in a file let an interrupted series continue. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { addCounts, type ClusterReport, NO_COUNTS } from "./report.ts";
import type { Counts } from "./verdict.ts";

/** Result of a seed; a line of the file of results. */
export type SeedResult = {
  readonly seed: number;
  /** Seconds of fault injection. */
  readonly seconds: number;
  readonly faults: readonly string[];
  readonly counts: Counts;
  readonly reads: number;
  readonly wrongReads: number;
  /** Number of injected faults by name. */
  readonly occurrences: Readonly<Record<string, number>>;
  /** Rounds after which the machine was too busy to catch up in time. */
  readonly busyRounds: number;
  /** Duration of the whole run. */
  readonly durationSeconds: number;
};

export type SeedRange = { readonly seed: string; readonly seeds?: string; readonly count: string };

/**
 * Returns the seeds that the options of the command name.
 *
 * @throws {Error} if they are no seeds
 */
export function seedsOf({ seed, seeds, count }: SeedRange): number[] {
  const [first, last] =
    seeds === undefined
      ? [Number(seed), Number(seed) + Number(count) - 1]
      : (/^(\d+)-(\d+)$/.exec(seeds) ?? []).slice(1).map(Number);
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last) || Number(last) < Number(first))
    throw new Error("give one seed with --seed N, or several with --seeds A-B or --seed A --count K");
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index);
}

/** Returns the results of former series in a file, by seed, if they ran as long. */
export function readResults(file: string, seconds: number): Map<number, SeedResult> {
  if (!existsSync(file)) return new Map();
  const results = readFileSync(file, "utf8").split("\n").flatMap(parseResult);
  return new Map(
    results.filter((result) => result.seconds === seconds).map((result) => [result.seed, result]),
  );
}

/** Returns nothing for an empty line, and for one that was not written completely. */
function parseResult(line: string): SeedResult[] {
  try {
    return [JSON.parse(line) as SeedResult];
  } catch {
    return [];
  }
}

/** Begins a line in any case: the one before may be incomplete. */
export const appendResult = (file: string, result: SeedResult): void =>
  appendFileSync(file, `\n${JSON.stringify(result)}\n`);

export type Timing = { readonly seconds: number; readonly durationSeconds: number };

export const resultOf = (report: ClusterReport, timing: Timing): SeedResult => ({
  ...{ seed: report.seed, faults: report.faults, counts: report.counts, ...timing },
  ...{ reads: report.reads.reads, wrongReads: report.reads.wrong, busyRounds: report.busyRounds },
  occurrences: Object.fromEntries([...report.occurrences].map(([name, { count }]) => [name, count])),
});

/** Result of a seed whose run did not end. */
export const resultOfError = (seed: number, { message }: Error, timing: Timing): SeedResult => ({
  ...{ seed, faults: [message], counts: NO_COUNTS, reads: 0, wrongReads: 0, busyRounds: 0, occurrences: {} },
  ...timing,
});

const number = (value: number): string => value.toLocaleString("en");

/** Returns the line of a seed. */
export function lineOf({ seed, faults, counts, reads, ...result }: SeedResult): string {
  const injected = Object.values(result.occurrences).reduce((sum, count) => sum + count, 0);
  const figures =
    `${number(counts.arrived)} of ${number(counts.expected)} deliveries, ${number(reads)} reads, ` +
    `${injected} faults injected, ${Math.round(result.durationSeconds)} s`;
  const verdict =
    `${counts.lost} lost, ${counts.duplicated} duplicated, ${counts.outOfOrder} out of order, ` +
    `${result.wrongReads} wrong reads`;
  return faults.length === 0
    ? `seed ${seed}: ${verdict} (${figures})`
    : `seed ${seed}: FAILED with ${faults.length} faults: ${verdict} (${figures}); first: ${faults[0]}`;
}

/**
 * Returns the totals, and for each failed seed the command that repeats it.
 *
 * @param only names of the only faults that have happened
 */
export function summaryOf(results: readonly SeedResult[], only: readonly string[] = []): string[] {
  const flags = only.map((name) => ` --only ${JSON.stringify(name)}`).join("");
  const counts = { ...NO_COUNTS };
  for (const result of results) addCounts(counts, result.counts);
  const failed = results.filter(({ faults }) => faults.length > 0);
  const reads = results.reduce((sum, result) => sum + result.reads, 0);
  const wrong = results.reduce((sum, result) => sum + result.wrongReads, 0);
  return [
    `${results.length - failed.length} of ${results.length} seeds passed: ${number(counts.expected)} deliveries expected, ` +
      `${number(counts.arrived)} arrived, ${counts.lost} lost, ${counts.duplicated} duplicated, ` +
      `${counts.outOfOrder} out of order; ${number(reads)} reads, ${wrong} wrong`,
    ...failed.map(
      ({ seed, seconds }) =>
        `seed ${seed} failed: npm run cluster -- --seed ${seed} --seconds ${seconds}${flags}`,
    ),
  ];
}
