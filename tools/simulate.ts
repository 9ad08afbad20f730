/**
 * `npm run simulate -- [--seed N] [--minutes M | --seconds S] [--seeds K] [--at-once N] [--keep NAME]
 * [--postgres] [--verbose]`
 *
 * Long run of the simulation: K seeds, N at a time. With `--postgres`, delivery workers send the webhooks from PostgreSQL. `--keep` adds failing seeds to the list that `npm test` replays, under a
 * name that describes the failure.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { hasPostgres } from "../packages/node/test-support/postgres/server.ts";
import { openPostgresStorage } from "../packages/node/test-support/simulation/postgres-storage.ts";
import { simulate } from "../packages/node/test-support/simulation/simulate.ts";
import { readArguments } from "./arguments.ts";

const KEPT = new URL("../packages/node/test-support/simulation/seeds.json", import.meta.url);

const { values } = readArguments("simulate", {
  options: {
    seed: { type: "string", default: String(Date.now() % 2 ** 32) },
    minutes: { type: "string", default: "1" },
    seconds: { type: "string" },
    seeds: { type: "string", default: "1" },
    // Each run waits for its processes half of the time.
    "at-once": { type: "string", default: String(availableParallelism()) },
    keep: { type: "string" },
    postgres: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});
const seconds = values.seconds === undefined ? Number(values.minutes) * 60 : Number(values.seconds);
const first = Number(values.seed);
const count = Number(values.seeds);
const failed: number[] = [];
if (values.postgres && !hasPostgres) throw new Error("there is no PostgreSQL server for this machine");
const storage = values.postgres ? { openStorage: openPostgresStorage } : {};

const seeds = Array.from({ length: count }, (_, index) => first + index);
await Promise.all(Array.from({ length: Number(values["at-once"]) }, runNext));

/** Runs seeds until none are left. */
async function runNext(): Promise<void> {
  for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) await run(seed);
}

async function run(seed: number): Promise<void> {
  const log = (line: string) => console.log(`seed ${seed}: ${line}`);
  try {
    const report = await simulate({ seed, seconds, log: values.verbose ? log : () => {}, ...storage });
    const { blocks, undone, arrivals, deliveries, kills, faults, happened, facts } = report;
    for (const fault of faults) log(fault);
    if (faults.length > 0) failed.push(seed);
    if (values.verbose) {
      log(JSON.stringify(Object.fromEntries(happened)));
      log(JSON.stringify(Object.fromEntries(facts)));
    }
    log(
      `${faults.length === 0 ? "passed" : "FAILED"}: ${kills} kills, ${blocks} blocks of which ${undone} undone, ` +
        `${deliveries} deliveries in ${arrivals} requests`,
    );
  } catch (error) {
    failed.push(seed);
    log(`FAILED: ${(error as Error).message}`);
  }
}
console.log(`${count - failed.length} of ${count} seeds passed, ${seconds} s each`);
if (failed.length > 0) {
  console.log(`failed: ${failed.join(", ")}`);
  if (values.keep !== undefined) keep(values.keep);
  process.exitCode = 1;
}

function keep(name: string): void {
  const kept = JSON.parse(readFileSync(KEPT, "utf8")) as { name: string; seed: number }[];
  const added = failed.map((seed) => ({ name, seed }));
  writeFileSync(KEPT, `${JSON.stringify([...kept, ...added], null, 2)}\n`);
}
