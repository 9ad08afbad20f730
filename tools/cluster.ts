/**
 * `npm run cluster -- [--seed N [--count K] | --seeds A-B] [--minutes M | --seconds S] [--only FAULT]... [--results FILE] [--verbose]`: a
 * node, mirrors, API servers and delivery workers around PostgreSQL, with injected faults. Several seeds run one after the other;
 * seeds with a result in FILE are not repeated.
 */
import { NEMESES } from "../packages/node/test-support/cluster/nemeses.ts";
import { linesOf } from "../packages/node/test-support/cluster/report.ts";
import { runCluster } from "../packages/node/test-support/cluster/run.ts";
import {
  appendResult,
  lineOf,
  readResults,
  resultOf,
  resultOfError,
  type SeedResult,
  seedsOf,
  summaryOf,
} from "../packages/node/test-support/cluster/series.ts";
import { hasPostgres } from "../packages/node/test-support/postgres/server.ts";
import { readArguments } from "./arguments.ts";

const { values } = readArguments("cluster", {
  options: {
    seed: { type: "string", default: String(Date.now() % 2 ** 32) },
    count: { type: "string", default: "1" },
    seeds: { type: "string" },
    minutes: { type: "string", default: "2" },
    seconds: { type: "string" },
    only: { type: "string", multiple: true },
    results: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
const unknown = values.only?.find((only) => !NEMESES.some(({ name }) => name === only));
if (unknown !== undefined)
  throw new Error(`no fault is named ${unknown}; choose from: ${NEMESES.map(({ name }) => name).join(", ")}`);
if (!hasPostgres) throw new Error("there is no PostgreSQL server for this machine");
const { seed, count, results: file } = values;
const seconds = values.seconds === undefined ? Number(values.minutes) * 60 : Number(values.seconds);
const seeds = seedsOf({ seed, count, ...(values.seeds !== undefined && { seeds: values.seeds }) });
const isVerbose = values.verbose || seeds.length === 1;
const known = file === undefined ? new Map<number, SeedResult>() : readResults(file, seconds);
const results: SeedResult[] = [];
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
for (const seed of seeds) {
  const former = known.get(seed);
  const result = former ?? (await run(seed));
  if (interrupted.signal.aborted) break;
  results.push(result);
  if (!former && file !== undefined) appendResult(file, result);
  if (seeds.length > 1) console.log(`${lineOf(result)}${former ? ", known" : ""}`);
}
if (seeds.length > 1) for (const line of summaryOf(results, values.only)) console.log(line);
const isPassed = results.length === seeds.length && results.every(({ faults }) => faults.length === 0);
process.exitCode = isPassed ? 0 : 1;

async function run(seed: number): Promise<SeedResult> {
  const startMs = Date.now();
  const timing = () => ({ seconds, durationSeconds: (Date.now() - startMs) / 1_000 });
  const log = (line: string) =>
    console.log(`${((Date.now() - startMs) / 1_000).toFixed(0).padStart(5)} s  ${line}`);
  if (isVerbose) console.log(`seed ${seed}, faults for ${seconds} s`);
  try {
    const report = await runCluster({
      ...{ seed, seconds, signal: interrupted.signal, log: isVerbose ? log : () => {} },
      ...(values.only && { only: values.only }),
    });
    if (isVerbose || report.faults.length > 0) for (const line of linesOf(report)) console.log(line);
    return resultOf(report, timing());
  } catch (error) {
    if (!interrupted.signal.aborted) console.log(`seed ${seed}: FAILED: ${(error as Error).stack}`);
    return resultOfError(seed, error as Error, timing());
  }
}
