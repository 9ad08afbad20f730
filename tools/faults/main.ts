/**
 * `npm run faults -- SCENARIO [--seed N] [--count K] [--minutes M] [--only FAULT]... [--list]`
 *
 * Runs real processes under load while faults are injected, and checks afterwards that nothing was lost, repeated or reordered. K seeds
 * run one after the other; the exit code is 1 if one of them failed. A seed determines the faults and their order, not the moment at
 * which a process is interrupted.
 */
import { missingForHosts } from "../../packages/node/test-support/faults/actors/hosts.ts";
import { CLUSTER_FAULTS } from "../../packages/node/test-support/faults/cluster/faults.ts";
import { runCluster } from "../../packages/node/test-support/faults/cluster/run.ts";
import { NETWORK_FAULTS } from "../../packages/node/test-support/faults/network/faults.ts";
import { runNetwork } from "../../packages/node/test-support/faults/network/run.ts";
import { WEBHOOK_FAULTS } from "../../packages/node/test-support/faults/webhooks/faults.ts";
import { runWebhooks } from "../../packages/node/test-support/faults/webhooks/run.ts";
import { hasPostgres } from "../../packages/node/test-support/postgres/server.ts";
import { readArguments } from "../arguments.ts";
import { runCatchUp } from "./catch-up.ts";
import { ATTACKS } from "./siege/attacks/all.ts";
import { missingForIpv6, runInOwnNetwork } from "./siege/namespaces.ts";
import { runSiege } from "./siege/run.ts";

type Run = {
  readonly seed: number;
  readonly seconds: number;
  /** Names of the only faults; absent: all. */
  readonly only?: readonly string[];
  readonly log: (line: string) => void;
};

type Result = {
  /** Descriptions of failures. */
  readonly faults: readonly string[];
  readonly summary: string;
};

type Scenario = {
  readonly description: string;
  /** Default duration of the faults. */
  readonly minutes: number;
  /** Names of the faults besides kills. */
  readonly faults: readonly string[];
  /** Names what this machine lacks. */
  readonly missing?: () => string | undefined;
  /** Runs this program again where all requirements are met. Returns its exit code, or undefined if that is not possible. */
  readonly runAgain?: () => Promise<number | undefined>;
  readonly run: (run: Run) => Promise<Result>;
};

const NETWORK_NODES = 7;
const NETWORK_BLOCKTIME = 4;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  webhooks: {
    description:
      "a dev chain is killed every few seconds; receivers must have the facts of the chain, and the database every accepted transaction",
    minutes: 1,
    faults: WEBHOOK_FAULTS,
    async run(run) {
      const { faults, kills, blocks, undone, deliveries, arrivals } = await runWebhooks(run);
      const summary =
        `${kills} kills, ${blocks} blocks of which ${undone} undone, ` +
        `${deliveries} deliveries in ${arrivals} requests`;
      return { faults, summary };
    },
  },
  cluster: {
    description: "a node, mirrors, API servers and delivery workers around PostgreSQL",
    minutes: 2,
    faults: CLUSTER_FAULTS,
    missing: () => (hasPostgres ? undefined : "a PostgreSQL server"),
    async run(run) {
      const { faults, counts, blocks, reads, failedReads, happened } = await runCluster(run);
      const failed = [...failedReads].map(([code, count]) => `${count} ${code}`).join(", ");
      const summary =
        `${blocks} blocks; ${counts.arrived} of ${counts.expected} deliveries arrived, ${counts.lost} lost, ` +
        `${counts.duplicated} duplicated, ${counts.outOfOrder} out of order, ${counts.repeated} repeated; ` +
        `${reads} reads, others: ${failed || "none"}; ${totalOf(happened)} faults`;
      return { faults, summary };
    },
  },
  network: {
    description: `${NETWORK_NODES} nodes on separate hosts, under transactions of every type, must agree`,
    minutes: 4,
    faults: NETWORK_FAULTS,
    missing: missingForHosts,
    async run(run) {
      const options = { ...run, nodes: NETWORK_NODES, blocktime: NETWORK_BLOCKTIME };
      const { faults, height, missed, undone, missingTypes } = await runNetwork(options);
      const unsent = missingTypes.map((type) => `no transaction of the type ${type}`);
      const summary = `${height} blocks, ${missed} slots missed, ${undone} blocks undone`;
      return { faults: [...faults, ...unsent], summary };
    },
  },
  "catch-up": {
    description: "a process that replays 50,500 blocks is killed, and must find every block and transaction",
    minutes: 1,
    faults: [],
    run: async (run) => ({ faults: [], summary: `${await runCatchUp(run)} kills` }),
  },
  siege: {
    description:
      "a node is attacked in every known way, one after the other, while honest clients use it; the minutes are those of each attack",
    minutes: 1 / 3,
    faults: ATTACKS.map(({ name }) => name),
    runAgain: async () => (missingForIpv6() === undefined ? undefined : runInOwnNetwork()),
    async run(run) {
      const { faults, attacks } = await runSiege(run);
      return { faults, summary: `${attacks} attacks` };
    },
  },
};

const totalOf = (happened: ReadonlyMap<string, number>): number =>
  [...happened.values()].reduce((sum, count) => sum + count, 0);

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
if (values.list) {
  list();
} else {
  const scenario = scenarioOf(name);
  const code = await scenario.runAgain?.();
  if (code === undefined) await runSeeds(name, scenario);
  else process.exitCode = code;
}

function list(): void {
  for (const [name, { description, faults }] of Object.entries(SCENARIOS))
    console.log(`${name}: ${description}${faults.map((fault) => `\n  ${fault}`).join("")}`);
}

/** @throws {Error} if there is no such scenario, it has no such fault, or it cannot run here */
function scenarioOf(name: string): Scenario {
  const scenario = SCENARIOS[name];
  if (!scenario)
    throw new Error(`choose a scenario: ${Object.keys(SCENARIOS).join(", ")}; --list explains them`);
  const unknown = values.only?.find((only) => !scenario.faults.includes(only));
  if (unknown !== undefined)
    throw new Error(`no fault is named ${unknown}; choose from: ${scenario.faults.join(", ")}`);
  const missing = scenario.missing?.();
  if (missing !== undefined) throw new Error(`this machine lacks ${missing}`);
  return scenario;
}

async function runSeeds(name: string, { minutes, run }: Scenario): Promise<void> {
  const seconds = Number(values.minutes ?? minutes) * 60;
  for (let index = 0; index < Number(values.count); index++) {
    const seed = Number(values.seed) + index;
    console.log(`${name}, seed ${seed}, faults for ${seconds} s`);
    const startMs = performance.now();
    const log = (line: string) =>
      console.log(`${((performance.now() - startMs) / 1_000).toFixed(0).padStart(5)} s  ${line}`);
    const only = values.only === undefined ? {} : { only: values.only };
    const { faults, summary } = await run({ seed, seconds, log, ...only }).catch((error: Error) => ({
      faults: [`${error.stack}`],
      summary: "it did not end",
    }));
    for (const fault of faults) console.log(`FAULT ${fault}`);
    console.log(`seed ${seed}: ${faults.length === 0 ? "passed" : `${faults.length} FAULTS`}: ${summary}`);
    if (faults.length > 0) process.exitCode = 1;
  }
}
