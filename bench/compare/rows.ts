/** The compared figures, measured by each version's own benchmarks or from outside the process. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Tree } from "../trees.ts";
import { countInstructions } from "./instructions.ts";
import { type Figures, measureIdle, measureLoad, measureStart } from "./process.ts";
import { measureResponses } from "./responses.ts";
import { measureSubmissions } from "./submissions.ts";

export type Row = {
  /** Name on the command line. */
  readonly name: string;
  /** Measures each version in as many runs; returns the figures of each run, by version in the order of the trees. */
  measure(trees: readonly Tree[], runs: number): Promise<Figures[][]>;
};

/** Measures one version after the other, each first in every other run. */
function inTurns(measure: (tree: Tree) => Promise<Figures>): Row["measure"] {
  return async (trees, runs) => {
    const figures: Figures[][] = trees.map(() => []);
    for (let run = 0; run < runs; run++) {
      const order = [...trees.entries()];
      for (const [index, tree] of run % 2 === 0 ? order : order.reverse()) {
        present(figures[index]).push(await measure(tree));
      }
    }
    return figures;
  };
}

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

/** Long enough: a third of the time of 20,000 blocks was the compilation of the code. */
const REPLAYED = ["--empty", "100000", "--blocks", "2000"];

export const ROWS: readonly Row[] = [
  { name: "replay", measure: inTurns((tree) => replay(tree, ...REPLAYED)) },
  { name: "unverified", measure: inTurns((tree) => replay(tree, ...REPLAYED, "--assume-valid")) },
  { name: "sync", measure: inTurns(sync) },
  { name: "api", measure: measureResponses },
  { name: "instructions", measure: countInstructions },
  { name: "submissions", measure: inTurns(measureSubmissions) },
  { name: "webhooks", measure: inTurns(webhooks) },
  { name: "start", measure: inTurns(measureStart) },
  { name: "idle", measure: inTurns(measureIdle) },
  { name: "load", measure: inTurns(measureLoad) },
];
