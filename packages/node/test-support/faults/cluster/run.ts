/** Runs a cluster under load and seeded faults, lets it settle, and checks what receivers and clients have. */
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NetworkFiles } from "@uniknode/protocol";
import { readCopy } from "../../../src/mirror/events/rows.ts";
import { createLastSequence } from "../../../src/store/events/event-log.ts";
import { compareFacts, compareTables } from "../../mirror/dev-chain.ts";
import { compareEvents } from "../../mirror/events.ts";
import { hasPostgres } from "../../postgres/server.ts";
import { lastingFolder } from "../../process/run-folder.ts";
import { until } from "../../process/until.ts";
import { createDraws } from "../../random.ts";
import { startRoundRobin } from "../../serve/round-robin.ts";
import { reorganise } from "../actors/dev-chain.ts";
import { createSubmissions, watched } from "../actors/submissions.ts";
import { kindsOf } from "../checks/kinds.ts";
import { type Background, type Figures, type Run, repeat, type Scenario, shown } from "../scenario.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { FAULTS, injectAll } from "./faults.ts";
import { handOver } from "./hand-over.ts";
import { holdSnapshot, type Readers, startReaders, watchOwners } from "./observers.ts";
import { expectDeliveries } from "./oracle.ts";
import { heal, settle } from "./settle.ts";
import { judgeWebhook, readRecorded } from "./verdict.ts";
import { type ClusterWebhook, type Registered, registerWebhooks } from "./webhooks.ts";

const SUBMIT_EVERY_MS = 700;
/** Shortest and longest time between two reorganisations, in seconds. */
const REORGANISE_EVERY = [2, 8] as const;
const MAX_SHOWN = 8;

export const scenario: Scenario = {
  description: "a node, mirrors, API servers and delivery workers around PostgreSQL",
  minutes: 2,
  faultNames: FAULTS.map(({ name }) => name),
  missing: () => (hasPostgres ? undefined : "a PostgreSQL server"),
  run: runCluster,
};

/**
 * The outputs of all processes and the database of the node of a run that fails remain in a folder.
 *
 * @throws {Error} if the cluster does not start, or a fault cannot be healed
 */
async function runCluster(run: Run): Promise<Figures> {
  const cluster = await startCluster(run);
  const webhooks: ClusterWebhook[] = [];
  let hasPassed = false;
  try {
    const after = await prepare(cluster, webhooks, run);
    const figures = await observe(cluster, { webhooks, after }, run);
    hasPassed = run.faults.length === 0;
    return figures;
  } finally {
    for (const { receiver } of webhooks) await receiver.close();
    await cluster.close();
    if (!hasPassed) saveOutputs(cluster, run.log);
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
async function prepare(cluster: Cluster, webhooks: ClusterWebhook[], { random, log }: Run): Promise<number> {
  const { chain, database } = cluster;
  const started = Promise.all(cluster.members.map((member) => member.start()));
  const replicated = database.addReplica();
  await chain.control.post("/api/dev/forge", { enabled: false });
  await until(
    "the mirror does not follow its node",
    async () => (await readCopy(database.postgres)).isStarted,
  );
  await registerWebhooks(kindsOf(watched), { ...chain, random }, webhooks);
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

/** Injects the faults under load, lets the cluster settle, and judges it. */
async function observe(cluster: Cluster, registered: Registered, run: Run): Promise<Figures> {
  const { webhooks } = registered;
  const { seed, log, faults } = run;
  const owners = watchOwners(cluster.database);
  const snapshot = holdSnapshot(cluster.database);
  const balancer = await startRoundRobin(cluster.servers.map(({ url }) => url));
  const readers = startReaders(balancer.url, watched.address, seed);
  const load = startLoad(cluster.chain, seed);
  let happened: ReadonlyMap<string, number>;
  try {
    const restless = webhooks.filter(({ isHealthy }) => !isHealthy);
    happened = await injectAll({ cluster, restless }, run);
    await Promise.all(load.map((each) => each.stop()));
    await heal(cluster, webhooks);
    log("the faults are over");
    await settle(cluster, log);
  } finally {
    await Promise.all([...load, readers, owners, snapshot].map((each) => each.stop()));
    await balancer.close();
  }
  faults.push(...owners.faults);
  const figures = await judgeAll(cluster, registered, { readers, faults });
  return { ...figures, ...readers.figures(), ...Object.fromEntries(happened) };
}

async function judgeAll(
  { chain: { database: node, chronicle, client }, database: { postgres } }: Cluster,
  registered: Registered,
  { readers, faults }: { readonly readers: Readers; readonly faults: string[] },
): Promise<Figures> {
  const files = (await client.get("/api/node/configuration/crypto")) as NetworkFiles;
  const chain = { changes: chronicle.changes(), wallets: chronicle.wallets() };
  const expected = await expectDeliveries(node, client.network.description.nethash, registered);
  const figures: Record<string, number> = {};
  for (const webhook of registered.webhooks) {
    const recorded = await readRecorded(postgres.query, webhook.id);
    const wanted = expected.get(webhook.id) ?? [];
    const verdict = judgeWebhook(webhook, { ...chain, wanted, recorded });
    for (const [name, count] of Object.entries(verdict.counts)) figures[name] = (figures[name] ?? 0) + count;
    faults.push(...verdict.faults);
  }
  try {
    await compareTables(node, postgres);
    await compareEvents(node, postgres);
    await compareFacts(node, postgres, files);
  } catch (error) {
    faults.push(`the mirror differs from its node: ${(error as Error).message}`);
  }
  faults.push(...shown([...readers.faults, ...readers.judge(chain.changes)], MAX_SHOWN));
  const blocks = chain.changes.filter(({ kind }) => kind === "applied").length;
  return { blocks, ...figures };
}
