/**
 * `npm run scale -- [--readers N] [--webhooks N] [--years N] ... [--simulate [--seed N]] [--costs] [--json]`: machines, disks and the
 * first limit for a load, by the measured costs in `costs.json`. `--simulate` also simulates queues with these costs.
 */
import { parseArgs } from "node:util";
import { orUsage } from "../arguments.ts";
import { costs, MEASURED } from "./costs.ts";
import { explainInputs, INPUT_OPTIONS, readInputs } from "./inputs.ts";
import { planOf } from "./model/plan.ts";
import { reportLines } from "./simulation/report.ts";
import { simulatePlan } from "./simulation/simulate.ts";
import { statementLines } from "./statements/print.ts";
import { linesOf, tableOf } from "./tables.ts";

const USAGE = [
  "usage: npm run scale -- [OPTIONS]",
  "",
  "Load and machines, with the default in brackets:",
  ...explainInputs(),
  "",
  "Output:",
  "  --simulate     simulate the queues, and compare them with the model",
  "  --seed N       random numbers of the simulation (1)",
  "  --costs        print the measured costs",
  "  --statements   print the SQL in use, with what matters for distributed databases",
  "  --json         print JSON",
].join("\n");

const OPTIONS = {
  ...INPUT_OPTIONS,
  simulate: { type: "boolean", default: false },
  seed: { type: "string", default: "1" },
  costs: { type: "boolean", default: false },
  statements: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
} as const;

const { inputs, seed, has } = orUsage(USAGE, process.argv.slice(2), () => {
  const { values } = parseArgs({ options: OPTIONS });
  const flags: Readonly<Record<string, unknown>> = values;
  return { inputs: readInputs(flags), seed: Number(flags.seed), has: (name: string) => flags[name] === true };
});

console.log(output());

function output(): string {
  if (has("statements")) return statementLines().join("\n");
  if (has("costs")) return has("json") ? toJson(MEASURED) : costLines().join("\n");
  const plan = planOf(inputs, costs);
  const simulated = has("simulate") ? simulatePlan(plan, costs, { seed }) : undefined;
  if (has("json")) return toJson({ ...plan, simulated });
  return [...linesOf(plan), ...(simulated ? ["", ...reportLines(simulated)] : [])].join("\n");
}

function costLines(): string[] {
  const rows = Object.entries(MEASURED).map(([name, { value, meaning, source, date }]) => [
    ...[name, value.toLocaleString("en"), meaning, source, date],
  ]);
  return tableOf([["cost", "value", "meaning", "measured by", "on"], ...rows]);
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
