/**
 * `npm run faults -- SCENARIO [--seed N] [--count K] [--minutes M] [--only FAULT]... [--list]`
 *
 * Runs real processes under load while faults are injected (docs/fault-runs.md). K seeds run one after the other; the exit code is 1 if
 * one of them failed.
 */
import {
  formatFigures,
  runScenario,
  type Scenario,
} from "../../packages/node/test-support/faults/scenario.ts";
import { readArguments } from "../arguments.ts";

/** Loaded when they run: some look for programs that others do not need. */
const SCENARIOS: Readonly<Record<string, () => Promise<{ readonly scenario: Scenario }>>> = {
  webhooks: () => import("../../packages/node/test-support/faults/webhooks/run.ts"),
  cluster: () => import("../../packages/node/test-support/faults/cluster/run.ts"),
  network: () => import("../../packages/node/test-support/faults/network/run.ts"),
  siege: () => import("../../packages/node/test-support/faults/siege/siege.ts"),
};

const { values, positionals } = readArguments("faults SCENARIO", {
  allowPositionals: true,
  options: {
    seed: { type: "string", default: String(Date.now() % 2 ** 32) },
    count: { type: "string", default: "1" },
    minutes: { type: "string" },
    only: { type: "string", multiple: true },
    list: { type: "boolean", default: false },
  },
});
const [name = ""] = positionals;
if (values.list) await list();
else await runSeeds(await loadScenario());

async function list(): Promise<void> {
  for (const [name, load] of Object.entries(SCENARIOS)) {
    const { description, faultNames } = (await load()).scenario;
    console.log(`${name}: ${description}${faultNames.map((fault) => `\n  ${fault}`).join("")}`);
  }
}

/** @throws {Error} if there is no such scenario, it has no such fault, or it cannot run here */
async function loadScenario(): Promise<Scenario> {
  const load = SCENARIOS[name];
  if (!load) throw new Error(`choose a scenario: ${Object.keys(SCENARIOS).join(", ")}; --list explains them`);
  const { scenario } = await load();
  const unknown = values.only?.find((only) => !scenario.faultNames.includes(only));
  if (unknown !== undefined)
    throw new Error(`no fault is named ${unknown}; choose from: ${scenario.faultNames.join(", ")}`);
  const missing = scenario.missing?.();
  if (missing !== undefined) throw new Error(`this machine lacks ${missing}`);
  return scenario;
}

async function runSeeds(scenario: Scenario): Promise<void> {
  const seconds = Number(values.minutes ?? scenario.minutes) * 60;
  for (let index = 0; index < Number(values.count); index++) {
    const seed = Number(values.seed) + index;
    console.log(`${name}, seed ${seed}, faults for ${seconds} s`);
    const startMs = performance.now();
    const log = (line: string) =>
      console.log(`${((performance.now() - startMs) / 1_000).toFixed(0).padStart(5)} s  ${line}`);
    const only = values.only === undefined ? {} : { only: values.only };
    const { faults, figures } = await runScenario(scenario, { seed, seconds, log, ...only });
    for (const fault of faults) console.log(`FAULT ${fault}`);
    const result = faults.length === 0 ? "passed" : `${faults.length} FAULTS`;
    console.log(`seed ${seed}: ${result}: ${formatFigures(figures)}`);
    if (faults.length > 0) process.exitCode = 1;
  }
}
