/**
 * `npm run bench -- units [chain] [reads] [deliveries] [streams] [--write]`
 *
 * Measures the costs of one unit of work that `npm run scale` uses: CPU time, bytes on disk, in memory and on the network, for each
 * block, transaction, fact, resource, page, delivery and stream. Prints them next to those in `tools/scale/costs.json`, and writes
 * them there with `--write`. CPU time depends less on other load of the machine than wall time, but by up to a half.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { readArguments } from "../tools/arguments.ts";
import type { CostName, MeasuredCost } from "../tools/scale/costs.ts";
import { amount, tableOf } from "../tools/scale/tables.ts";
import { measureChain } from "./units/chain.ts";
import { measureDeliveries } from "./units/deliveries.ts";
import { measureReads } from "./units/reads.ts";
import { measureStreams } from "./units/streams.ts";

const { values, positionals } = readArguments("bench units [PART...]", {
  allowPositionals: true,
  options: { write: { type: "boolean", default: false } },
});

const PARTS: Readonly<Record<string, () => Promise<Partial<Record<CostName, number>>>>> = {
  chain: measureChain,
  reads: measureReads,
  deliveries: measureDeliveries,
  streams: measureStreams,
};
const FILE = new URL("../tools/scale/costs.json", import.meta.url);

const stored = JSON.parse(readFileSync(FILE, "utf8")) as Record<string, MeasuredCost>;
const parts = Object.entries(PARTS).filter(
  ([name]) => positionals.length === 0 || positionals.includes(name),
);
const date = new Date().toISOString().slice(0, 10);
for (const [part, measure] of parts) {
  const measured = Object.entries(await measure());
  const rows = measured.map(([name, value]) => {
    const { value: former = 0, meaning = "" } = stored[name] ?? {};
    return [name, amount(value), amount(former), meaning];
  });
  console.log(`${tableOf([["cost", "measured", "in the file", "meaning"], ...rows]).join("\n")}\n`);
  for (const [name, value] of measured) {
    const { meaning = "" } = stored[name] ?? {};
    stored[name] = { value: rounded(value), meaning, source: `npm run bench -- units ${part}`, date };
  }
  if (values.write) writeFileSync(FILE, `${JSON.stringify(stored, null, 2)}\n`);
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
