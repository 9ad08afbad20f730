/** The compared figures, measured by each version's own benchmarks or from outside the process. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Figures, measureIdle, measureStart } from "./process.ts";
import { measureSubmissions } from "./submissions.ts";
import type { Tree } from "./trees.ts";

export type Row = {
  /** Name on the command line. */
  readonly name: string;
  measure(tree: Tree): Promise<Figures>;
};

const run = promisify(execFile);
const MAX_OUTPUT = 16 * 1024 * 1024;

/** Runs a benchmark of a version and returns its output. */
async function bench({ runtime, folder }: Tree, name: string, ...options: string[]): Promise<string> {
  const { stdout } = await run(runtime, [`bench/${name}.ts`, ...options], {
    cwd: folder,
    maxBuffer: MAX_OUTPUT,
  });
  return stdout;
}

/** Returns the number that a pattern captures. */
function numberIn(output: string, pattern: RegExp): number {
  const [, digits] = pattern.exec(output) ?? [];
  if (digits === undefined)
    throw new Error(`the output of the benchmark does not match ${pattern}:\n${output}`);
  return Number(digits.replaceAll(",", ""));
}

async function replay(tree: Tree, ...options: string[]): Promise<Figures> {
  const output = await bench(tree, "replay", ...options);
  const figures = (kind: string) => ({
    [`${kind}, seconds`]: numberIn(output, new RegExp(`^${kind}: .* in ([\\d.]+) s`, "m")),
    [`${kind}, us of processor time a signature`]: numberIn(
      output,
      new RegExp(`^${kind}:[^]*?by processor time: (\\d+) us`, "m"),
    ),
  });
  return {
    ...figures("empty blocks"),
    ...figures("transfers"),
    "peak memory, MB": numberIn(output, /peak memory (\d+) MB/),
    "database, MB": numberIn(output, /database (\d+) MB/),
  };
}

/** Lines of a table: the name, then its columns. */
async function families(tree: Tree): Promise<Figures> {
  const output = await bench(tree, "api", "families", "--seconds", "1");
  const [whole] = output.split("\nwith a tenth");
  const figures: Record<string, number> = {};
  for (const line of present(whole).split("\n")) {
    const [name, , perSecond, p99Ms, , , , processorUs] = line.split(" | ");
    if (processorUs === undefined || Number.isNaN(Number(processorUs))) continue;
    figures[`${name}, 1/s`] = Number(perSecond);
    figures[`${name}, p99 ms`] = Number(p99Ms);
    figures[`${name}, us of processor time`] = Number(processorUs);
  }
  return figures;
}

async function sync(tree: Tree): Promise<Figures> {
  const output = await bench(tree, "sync", "--empty", "4000", "--blocks", "300");
  // The replay that precedes it prints lines of the same form.
  const [, synced = ""] = output.split(/^sync from /m);
  const part = (kind: string) => ({
    [`${kind}, seconds`]: numberIn(synced, new RegExp(`^ *${kind}: ([\\d.]+) s,`, "m")),
    [`${kind}, seconds of processor time`]: numberIn(
      synced,
      new RegExp(`^ *${kind}: .* ([\\d.]+) s of processor time`, "m"),
    ),
  });
  const parts = { ...part("empty blocks"), ...part("blocks with transfers") };
  // Blocks are decoded ahead, so that a part of the work for one kind counts for the other.
  const total = (unit: string) =>
    Object.entries(parts).reduce((sum, [name, value]) => sum + (name.endsWith(`, ${unit}`) ? value : 0), 0);
  return {
    ...parts,
    "all, seconds": total("seconds"),
    "all, seconds of processor time": total("seconds of processor time"),
  };
}

async function webhooks(tree: Tree): Promise<Figures> {
  const output = await bench(tree, "webhooks", "throughput");
  return {
    "durable deliveries, 1/s": numberIn(output, /durable: ([\d,]+)/),
    "durable deliveries, us of processor time": numberIn(output, /durable: .*, (\d+) us/),
  };
}

export const ROWS: readonly Row[] = [
  { name: "replay", measure: (tree) => replay(tree, "--empty", "20000", "--blocks", "600") },
  {
    name: "unverified",
    measure: (tree) => replay(tree, "--empty", "20000", "--blocks", "600", "--assume-valid"),
  },
  { name: "sync", measure: sync },
  { name: "api", measure: families },
  { name: "submissions", measure: measureSubmissions },
  { name: "webhooks", measure: webhooks },
  { name: "start", measure: measureStart },
  { name: "idle", measure: measureIdle },
];
