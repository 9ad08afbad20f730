/** Runs a cluster under load and seeded faults, lets it settle, and checks what receivers and clients have. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { NetworkFiles } from "@uniknode/protocol";
import { readCopy } from "../../../src/mirror/events/rows.ts";
import { present } from "../../../src/platform/present.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { compareFacts, compareTables } from "../../mirror/dev-chain.ts";
import { compareEvents } from "../../mirror/events.ts";
import { hasPostgres } from "../../postgres/server.ts";
import { lastingFolder } from "../../process/run-folder.ts";
import { until } from "../../process/until.ts";
import { startRoundRobin } from "../../serve/round-robin.ts";
import { createDraws } from "../actors/random.ts";
import { beginChronicle, type Chronicle, openChronicle } from "../checks/chronicle.ts";
import { kindsOf } from "../checks/kinds.ts";
import { type Background, type Report, type Run, repeat, type Scenario, shown } from "../scenario.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { FAULTS, injectAll } from "./faults.ts";
import { handOver } from "./hand-over.ts";
import { MAX_DEPTH, startLoad, watched } from "./load.ts";
import { expectDeliveries } from "./oracle.ts";
import { watchOwners } from "./owners.ts";
import { type Readers, startReaders } from "./readers.ts";
import { heal, settle } from "./settle.ts";
import { type Chain, type Counts, judgeWebhook, readRecorded } from "./verdict.ts";
import { type ClusterWebhook, type Registered, registerWebhooks } from "./webhooks.ts";

/** Everything that a run has opened. */
type World = {
  readonly cluster: Cluster;
  /** Database of the node, to read. */
  readonly node: Database;
  readonly chronicle: Chronicle;
  readonly registered: Registered;
};

const POLL_MS = 100;
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
  mkdirSync(join(folder, "data"));
  const cluster = await startCluster(folder);
  const webhooks: ClusterWebhook[] = [];
  let world: World | undefined;
  let hasPassed = false;
  try {
    world = await prepare(cluster, webhooks, options);
    const report = await run(world, options);
    hasPassed = report.faults.length === 0;
    return report;
  } finally {
    for (const { receiver } of webhooks) await receiver.close();
    world?.chronicle.close();
    world?.node.close();
    await cluster.close();
    if (!hasPassed) saveOutputs(cluster, options.log);
    rmSync(folder, { recursive: true, force: true });
  }
}

function saveOutputs({ members, data }: Cluster, log: Run["log"]): void {
  const folder = mkdtempSync(join(lastingFolder(), "uniknode-cluster-failed-"));
  cpSync(data, join(folder, "node"), { recursive: true });
  for (const { name, output } of members) writeFileSync(join(folder, `${name}.log`), output());
  log(`the outputs of all processes and the database of the node are in ${folder}`);
}

/** Starts everything, registers the webhooks while no block is created, and hands them over to the workers. */
async function prepare(cluster: Cluster, webhooks: ClusterWebhook[], { seed, log }: Run): Promise<World> {
  const { data, database, control } = cluster;
  const started = Promise.all(cluster.members.map((member) => member.start()));
  const replicated = database.hasReplica ? database.addReplica() : Promise.resolve();
  beginChronicle(data);
  await control.post("/api/dev/mine", { blocks: MAX_DEPTH + 5 });
  await control.post("/api/dev/forge", { enabled: false });
  await until(
    "the mirror does not follow its node",
    async () => (await readCopy(database.postgres())).isStarted,
  );
  const chronicle = openChronicle(data);
  const node = openDatabase(join(data, "node.sqlite"), { readonly: true });
  const register = { control, position: chronicle.position, random: createDraws(seed) };
  const registered = await registerWebhooks(kindsOf(watched), register, node);
  webhooks.push(...registered.webhooks);
  await handOver(cluster, "workers");
  await Promise.all([started, replicated]);
  cluster.reroute();
  await control.post("/api/dev/forge", { enabled: true });
  log(
    `${cluster.members.length} processes, ${webhooks.length} webhooks, PostgreSQL with ${partsOf(cluster)}`,
  );
  return { cluster, node, chronicle, registered };
}

const partsOf = ({ database, pooler }: Cluster): string =>
  [
    database.hasReplica ? "a replica" : "no replica (Debian's postgresql-15 is not installed)",
    pooler ? "pgbouncer" : "no pgbouncer (it is not installed)",
    database.fill ? "a small disk" : "no small disk (this user may not mount one)",
  ].join(", ");

async function run(world: World, options: Run): Promise<Report> {
  const { cluster, registered } = world;
  const { webhooks } = registered;
  const { seed, log } = options;
  const owners = watchOwners(cluster.database);
  const snapshot = holdSnapshot(cluster.database);
  const balancer = await startRoundRobin(cluster.servers.map(({ url }) => url));
  const readers = startReaders(balancer.url, watched.address, seed);
  const load = startLoad(cluster, seed);
  let happened: ReadonlyMap<string, number>;
  try {
    const restless = webhooks.filter(({ isHealthy }) => !isHealthy);
    happened = await injectAll({ cluster, restless }, options);
    await load.stop();
    await heal(cluster, webhooks);
    log("the faults are over");
    await settle(cluster, world.node, log);
  } finally {
    await Promise.all([load.stop(), readers.stop(), owners.stop(), snapshot.stop()]);
    await balancer.close();
  }
  const { faults, figures } = await judgeAll(world, readers);
  return {
    faults: [...cluster.faults, ...owners.faults, ...faults],
    figures: { ...figures, ...readers.figures(), ...Object.fromEntries(happened) },
  };
}

async function judgeAll({ cluster, node, chronicle, registered }: World, readers: Readers): Promise<Report> {
  const postgres = cluster.database.postgres();
  const [head] = await postgres.query<{ nethash: string }>("SELECT nethash FROM head");
  const chain: Chain = { changes: chronicle.changes(), wallets: chronicle.wallets() };
  const expected = await expectDeliveries(node, present(head).nethash, registered);
  const figures: Counts = { expected: 0, arrived: 0, repeated: 0, late: 0 };
  const faults: string[] = [];
  for (const webhook of registered.webhooks) {
    const recorded = await readRecorded(postgres.query, webhook.id);
    const verdict = judgeWebhook(webhook, { chain, wanted: expected.get(webhook.id) ?? [], recorded });
    for (const name of Object.keys(figures) as (keyof Counts)[]) figures[name] += verdict.counts[name];
    faults.push(...verdict.faults);
  }
  await compareWithNode(cluster, node).catch(({ message }: Error) => {
    faults.push(`the mirror differs from its node: ${message}`);
  });
  faults.push(...shown([...readers.faults, ...readers.judge(chain.changes)], MAX_SHOWN));
  const blocks = chain.changes.filter(({ kind }) => kind === "applied").length;
  return { faults, figures: { blocks, ...figures } };
}

/** @throws {Error} that names a difference of rows, copied events, or facts */
async function compareWithNode({ client, database }: Cluster, node: Database): Promise<void> {
  const files = (await client.get("/api/node/configuration/crypto")) as NetworkFiles;
  const postgres = database.postgres();
  await compareTables(node, postgres);
  await compareEvents(node, postgres);
  await compareFacts(node, postgres, files);
}

/** Holds a snapshot of the database open, as a long report does: vacuum keeps all rows that it can see. */
function holdSnapshot({ postgres }: Cluster["database"]): Background {
  let isEnded = false;
  // Another snapshot follows when a fault of the database has ended the last one.
  const holding = repeat(
    () => POLL_MS,
    () =>
      postgres().transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", async ({ query }) => {
        while (!isEnded) {
          await query("SELECT height FROM head");
          await sleep(POLL_MS);
        }
      }),
  );
  return {
    async stop() {
      isEnded = true;
      await holding.stop();
    },
  };
}
