/** Runs a cluster under load and seeded faults, lets it settle, and checks what receivers and clients have. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NetworkFiles } from "@uniknode/protocol";
import { readCopy } from "../../../src/mirror/events/rows.ts";
import { createLastSequence } from "../../../src/store/events/event-log.ts";
import { compareFacts, compareTables } from "../../mirror/dev-chain.ts";
import { compareEvents } from "../../mirror/events.ts";
import { hasPostgres } from "../../postgres/server.ts";
import { lastingFolder } from "../../process/run-folder.ts";
import { until } from "../../process/until.ts";
import { startRoundRobin } from "../../serve/round-robin.ts";
import { reorganise } from "../actors/dev-chain.ts";
import { createDraws } from "../actors/random.ts";
import { createSubmissions, watched } from "../actors/submissions.ts";
import { kindsOf } from "../checks/kinds.ts";
import { type Background, type Report, type Run, repeat, type Scenario, shown } from "../scenario.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { FAULTS, injectAll } from "./faults.ts";
import { handOver } from "./hand-over.ts";
import { holdSnapshot, type Readers, startReaders, watchOwners } from "./observers.ts";
import { expectDeliveries } from "./oracle.ts";
import { heal, settle } from "./settle.ts";
import { type Counts, judgeWebhook, readRecorded } from "./verdict.ts";
import { type ClusterWebhook, type Registered, registerWebhooks } from "./webhooks.ts";

const SUBMIT_EVERY_MS = 700;
/** Shortest and longest time between two reorganisations, in seconds. */
const REORGANISE_EVERY = [2, 8] as const;
const MAX_SHOWN = 8;

export const scenario: Scenario = {
  description: "a node, mirrors, API servers and delivery workers around PostgreSQL",
  minutes: 2,
  faults: FAULTS.map(({ name }) => name),
  missing: () => (hasPostgres ? undefined : "a PostgreSQL server"),
  run: runCluster,
};

/**
 * The outputs of all processes and the database of the node of a run that fails remain in a folder.
 *
 * @throws {Error} if the cluster does not start, or a fault cannot be healed
 */
export async function runCluster(options: Run): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-cluster-"));
  const cluster = await startCluster(folder);
  const webhooks: ClusterWebhook[] = [];
  let hasPassed = false;
  try {
    const after = await prepare(cluster, webhooks, options);
    const report = await run(cluster, { webhooks, after }, options);
    hasPassed = report.faults.length === 0;
    return report;
  } finally {
    for (const { receiver } of webhooks) await receiver.close();
    await cluster.close();
    if (!hasPassed) saveOutputs(cluster, options.log);
    rmSync(folder, { recursive: true, force: true });
  }
}

function saveOutputs({ members, chain }: Cluster, log: Run["log"]): void {
  const folder = mkdtempSync(join(lastingFolder(), "uniknode-cluster-failed-"));
  cpSync(chain.data, join(folder, "node"), { recursive: true });
  for (const { name, output } of members) writeFileSync(join(folder, `${name}.log`), output());
  log(`the outputs of all processes and the database of the node are in ${folder}`);
}

/**
 * Starts everything, registers the webhooks while no block is created, and hands them over to the workers.
 *
 * @param webhooks gets every webhook
 * @returns the sequence of the last event that they do not receive
 */
async function prepare(cluster: Cluster, webhooks: ClusterWebhook[], { seed, log }: Run): Promise<number> {
  const { chain, database } = cluster;
  const started = Promise.all(cluster.members.map((member) => member.start()));
  const replicated = database.addReplica();
  await chain.control.post("/api/dev/forge", { enabled: false });
  await until(
    "the mirror does not follow its node",
    async () => (await readCopy(database.postgres)).isStarted,
  );
  await registerWebhooks(kindsOf(watched), { ...chain, random: createDraws(seed) }, webhooks);
  const after = createLastSequence(chain.database)();
  await handOver(cluster, "workers");
  await Promise.all([started, replicated]);
  cluster.reroute();
  await chain.control.post("/api/dev/forge", { enabled: true });
  log(
    `${cluster.members.length} processes, ${webhooks.length} webhooks, PostgreSQL with ${partsOf(cluster)}`,
  );
  return after;
}

const partsOf = ({ database }: Cluster): string =>
  [
    database.hasReplica ? "a replica" : "no replica (Debian's postgresql-15 is not installed)",
    database.hasPooler ? "pgbouncer" : "no pgbouncer (it is not installed)",
    database.hasDisk ? "a small disk" : "no small disk (this user may not mount one)",
  ].join(", ");

/** Submits transactions, and reorganises the chain. */
function startLoad({ client, control }: Cluster["chain"], seed: number): readonly Background[] {
  const random = createDraws(seed);
  const submitSome = createSubmissions(createDraws(seed));
  return [
    repeat(
      () => SUBMIT_EVERY_MS,
      () => submitSome(client),
    ),
    repeat(
      () => random.integer(...REORGANISE_EVERY) * 1_000,
      () => reorganise(control, random),
    ),
  ];
}

async function run(cluster: Cluster, registered: Registered, options: Run): Promise<Report> {
  const { webhooks } = registered;
  const { seed, log } = options;
  const owners = watchOwners(cluster.database);
  const snapshot = holdSnapshot(cluster.database);
  const balancer = await startRoundRobin(cluster.servers.map(({ url }) => url));
  const readers = startReaders(balancer.url, watched.address, seed);
  const load = startLoad(cluster.chain, seed);
  let happened: ReadonlyMap<string, number>;
  try {
    const restless = webhooks.filter(({ isHealthy }) => !isHealthy);
    happened = await injectAll({ cluster, restless }, options);
    await Promise.all(load.map((each) => each.stop()));
    await heal(cluster, webhooks);
    log("the faults are over");
    await settle(cluster, log);
  } finally {
    await Promise.all([...load, readers, owners, snapshot].map((each) => each.stop()));
    await balancer.close();
  }
  const { faults, figures } = await judgeAll(cluster, registered, readers);
  return {
    faults: [...cluster.faults, ...owners.faults, ...faults],
    figures: { ...figures, ...readers.figures(), ...Object.fromEntries(happened) },
  };
}

async function judgeAll(
  { chain, database: { postgres } }: Cluster,
  registered: Registered,
  readers: Readers,
): Promise<Report> {
  const { database: node, chronicle, client } = chain;
  const files = (await client.get("/api/node/configuration/crypto")) as NetworkFiles;
  const [changes, wallets] = [chronicle.changes(), chronicle.wallets()];
  const expected = await expectDeliveries(node, client.network.description.nethash, registered);
  const figures: Counts = { expected: 0, arrived: 0, repeated: 0, late: 0 };
  const faults: string[] = [];
  for (const webhook of registered.webhooks) {
    const recorded = await readRecorded(postgres.query, webhook.id);
    const wanted = expected.get(webhook.id) ?? [];
    const verdict = judgeWebhook(webhook, { chain: { changes, wallets }, wanted, recorded });
    for (const name of Object.keys(figures) as (keyof Counts)[]) figures[name] += verdict.counts[name];
    faults.push(...verdict.faults);
  }
  try {
    await compareTables(node, postgres);
    await compareEvents(node, postgres);
    await compareFacts(node, postgres, files);
  } catch (error) {
    faults.push(`the mirror differs from its node: ${(error as Error).message}`);
  }
  faults.push(...shown([...readers.faults, ...readers.judge(changes)], MAX_SHOWN));
  const blocks = changes.filter(({ kind }) => kind === "applied").length;
  return { faults, figures: { blocks, ...figures } };
}
