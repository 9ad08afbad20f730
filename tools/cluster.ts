/**
 * `npm run cluster -- [--seed N] [--minutes M | --seconds S] [--seeds K]`: a node, mirrors, API servers and delivery workers around
 * PostgreSQL, with injected faults; K seeds, one after the other.
 */
import { linesOf } from "../packages/node/test-support/cluster/report.ts";
import { runCluster } from "../packages/node/test-support/cluster/run.ts";
import { hasPostgres } from "../packages/node/test-support/postgres/server.ts";
import { readArguments } from "./arguments.ts";

const { values } = readArguments("cluster", {
  options: {
    seed: { type: "string", default: String(Date.now() % 2 ** 32) },
    minutes: { type: "string", default: "2" },
    seconds: { type: "string" },
    seeds: { type: "string", default: "1" },
  },
});
if (!hasPostgres) throw new Error("there is no PostgreSQL server for this machine");
const seconds = values.seconds === undefined ? Number(values.minutes) * 60 : Number(values.seconds);
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => Number(values.seed) + index);
const failed: number[] = [];
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
for (const seed of seeds) {
  if (interrupted.signal.aborted) break;
  if (!(await run(seed))) failed.push(seed);
}
if (seeds.length > 1)
  console.log(
    `${seeds.length - failed.length} of ${seeds.length} seeds passed${failedText()}, ${seconds} s each`,
  );
process.exitCode = failed.length > 0 ? 1 : 0;

/** Returns false if the seed failed. */
async function run(seed: number): Promise<boolean> {
  const startMs = Date.now();
  const log = (line: string) =>
    console.log(`${((Date.now() - startMs) / 1_000).toFixed(0).padStart(5)} s  ${line}`);
  console.log(`seed ${seed}, faults for ${seconds} s`);
  try {
    const report = await runCluster({ seed, seconds, log, signal: interrupted.signal });
    for (const line of linesOf(report)) console.log(line);
    return report.faults.length === 0;
  } catch (error) {
    console.log(`seed ${seed}: FAILED: ${(error as Error).stack}`);
    return false;
  }
}

function failedText(): string {
  return failed.length === 0 ? "" : `, failed: ${failed.join(", ")}`;
}
