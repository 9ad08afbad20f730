/** Runs a cluster under load and seeded faults, lets it settle, and checks what receivers and clients have. */
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEpochFence } from "@uniknode/client";
import { readCopy } from "../../../src/mirror/events/rows.ts";
import { present } from "../../../src/platform/present.ts";
import { createLastSequence } from "../../../src/store/events/event-log.ts";
import { compareFacts, compareTables } from "../../mirror/dev-chain.ts";
import { compareEvents } from "../../mirror/events.ts";
import { hasPostgres } from "../../postgres/server.ts";
import { lastingFolder } from "../../process/run-folder.ts";
import { until } from "../../process/until.ts";
import { createDraws, type Random } from "../../random.ts";
import { startRoundRobin } from "../../serve/round-robin.ts";
import { reorganise } from "../actors/dev-chain.ts";
import { Receiver } from "../actors/receiver.ts";
import { Subject } from "../actors/subject.ts";
import { createSubmissions, watched } from "../actors/submissions.ts";
import { kindsOf } from "../checks/kinds.ts";
import {
  Background,
  type Figures,
  increase,
  type Run,
  type Scenario,
  shown,
  untilDone,
} from "../scenario.ts";
import { Cluster, handOver } from "./cluster.ts";
import { FAULTS, injectAll } from "./faults.ts";
import { holdSnapshot, judgeReads, OwnersCheck, Readers, watchOwners } from "./observers.ts";
import { expectDeliveries } from "./oracle.ts";
import { judgeWebhook, readRecorded } from "./verdict.ts";

const SUBMIT_EVERY_MS = 700;
/** Shortest and longest time between two reorganisations, in seconds. */
const REORGANISE_EVERY = [2, 8] as const;
const MAX_SHOWN = 8;
/** Clocks of the workers are advanced by this time if nothing happens. */
const STEP_MS = 900_000;
/** Kinds that have a second webhook, whose receiver responds with 2xx during the whole run. */
const HEALTHY_KINDS = ["every block", "every transaction", "ledger, strict", "three confirmations"];

export const scenario: Scenario = {
  description: "a node, mirrors, API servers and delivery workers around PostgreSQL",
  minutes: 2,
  faultNames: FAULTS.map(({ name }) => name),
  missing: () => (hasPostgres ? undefined : "a PostgreSQL server"),
  run: runCluster,
};

/** @throws {Error} if the cluster does not start, or a fault cannot be healed */
async function runCluster(run: Run): Promise<Figures> {
  const cluster = await Cluster.start(run);
  let hasPassed = false;
  try {
    const after = await prepare(cluster, run);
    const figures = await observe(cluster, after, run);
    hasPassed = run.faults.length === 0;
    return figures;
  } finally {
    await cluster.close();
    if (!hasPassed) saveOutputs(cluster, run.log);
  }
}

function saveOutputs({ members, chain }: Cluster, log: Run["log"]): void {
  const folder = mkdtempSync(join(lastingFolder(), "uniknode-cluster-failed-"));
  cpSync(chain.data, join(folder, "node"), { recursive: true });
  for (const { name, output } of members) writeFileSync(join(folder, `${name}.log`), output);
  log(`the outputs of all processes and the database of the node are in ${folder}`);
}

/** Starts everything, and hands webhooks over to the workers. Returns the sequence of the last event that they do not receive. */
async function prepare(cluster: Cluster, { random, log }: Run): Promise<number> {
  const { chain, database, members } = cluster;
  const started = Promise.all(members.map((member) => member.start()));
  const replicated = database.addReplica();
  await chain.client.dev.forge({ enabled: false });
  await until(
    "the mirror does not follow its node",
    async () => (await readCopy(database.postgres)).isStarted,
  );
  await registerWebhooks(cluster, random);
  const after = createLastSequence(chain.database)();
  await handOver(cluster, "workers");
  await Promise.all([started, replicated]);
  cluster.reroute();
  await chain.client.dev.forge({ enabled: true });
  const parts = [
    database.hasReplica ? "a replica" : "no replica (Debian's postgresql-15 is not installed)",
    database.hasPooler ? "pgbouncer" : "no pgbouncer (it is not installed)",
    database.hasDisk ? "a small disk" : "no small disk (this user may not mount one)",
  ].join(", ");
  log(`${members.length} processes, ${cluster.webhooks.length} webhooks, PostgreSQL with ${parts}`);
  return after;
}

/** Registers a webhook of every kind, each with its own receiver. Strict receivers refuse calls of former owners. */
async function registerWebhooks({ chain, webhooks, restless }: Cluster, random: Random): Promise<void> {
  const kinds = kindsOf(watched);
  const healthyKinds = HEALTHY_KINDS.map((name) => present(kinds.find((kind) => kind.name === name)));
  for (const [index, kind] of [...kinds, ...healthyKinds].entries()) {
    const receiver = await Receiver.start(random, kind.isStrict ? { fence: createEpochFence() } : {});
    const subject = new Subject(receiver, chain);
    webhooks.push(subject);
    await subject.register(kind);
    if (index >= kinds.length) continue;
    restless.push(subject);
    if (index % 2 === 1) await receiver.become("slow");
  }
}

function startLoad(chain: Cluster["chain"], seed: number): readonly Background[] {
  const random = createDraws(seed);
  return [
    new Background(SUBMIT_EVERY_MS, createSubmissions(createDraws(seed), chain)),
    new Background(
      () => random.integer(...REORGANISE_EVERY) * 1_000,
      () => reorganise(chain.client, random),
    ),
  ];
}

async function observe(cluster: Cluster, after: number, run: Run): Promise<Figures> {
  const { seed, log, faults } = run;
  const owners = new OwnersCheck();
  const watching = [watchOwners(cluster.database, owners), holdSnapshot(cluster.database)];
  const balancer = await startRoundRobin(cluster.serverUrls);
  const readers = new Readers(balancer.url, watched.address, seed);
  const load = startLoad(cluster.chain, seed);
  let happened: ReadonlyMap<string, number>;
  try {
    happened = await injectAll(cluster, run);
    await Promise.all(load.map((each) => each.stop()));
    await heal(cluster);
    log("the faults are over");
    await settle(cluster, log);
  } finally {
    await Promise.all([...load, readers, ...watching].map((each) => each.stop()));
    await balancer.close();
  }
  faults.push(...owners.faults);
  const figures = await judgeAll(cluster, after, { readers, faults });
  const reads = { reads: readers.reads.length, ...Object.fromEntries(readers.failures) };
  return { ...figures, ...reads, ...Object.fromEntries(happened) };
}

async function heal(cluster: Cluster): Promise<void> {
  for (const { receiver } of cluster.webhooks) await receiver.become("well");
  await cluster.database.ensureRunning();
  for (const { links } of cluster.members) for (const link of links) link.become("open");
  for (const member of cluster.members) await member.start();
  await handOver(cluster, "workers");
  await cluster.chain.client.dev.forge({ enabled: false });
}

/** @throws {Error} that names the remaining work, if nothing happens */
async function settle(cluster: Cluster, log: (line: string) => void): Promise<void> {
  let [aheadMs, logged] = [0, ""];
  await untilDone(
    () => unfinished(cluster),
    (left) => {
      if (left !== logged) log(`waiting for ${left}`);
      logged = left;
      aheadMs += STEP_MS;
      for (const worker of cluster.workers) cluster.setClock(worker, aheadMs);
    },
  );
}

type Waiting = { webhook: string; count: number; reason: string | null };

async function unfinished({ chain, database: { postgres } }: Cluster): Promise<string[]> {
  const { query } = postgres;
  const sql = "SELECT id_text AS id FROM blocks ORDER BY height DESC LIMIT 1";
  const head = present(chain.database.prepare<{ id: string }>(sql).get()).id;
  const [row] = await query<{ copied: string; matched: string; head: string }>(
    `SELECT last_sequence AS copied, (SELECT min(matched) FROM shards) AS matched, (SELECT id FROM head) AS head
     FROM event_log`,
  );
  const waiting = await query<Waiting>(
    `SELECT webhook, count(*)::integer AS count, max(reason) AS reason FROM deliveries WHERE state = 'pending'
     GROUP BY webhook ORDER BY webhook`,
  );
  const last = createLastSequence(chain.database)();
  const [copied, matched] = [Number(row?.copied), Number(row?.matched)];
  return [
    ...(row?.head === head ? [] : [`block ${head} to be mirrored after ${row?.head}`]),
    ...(copied < last ? [`${last - copied} events to be copied`] : []),
    ...(matched < copied ? [`${copied - matched} events to be matched`] : []),
    ...waiting.map(({ webhook, count, reason }) => `${count} deliveries of webhook ${webhook} (${reason})`),
  ];
}

async function judgeAll(
  { chain: { database: node, chronicle, files }, database: { postgres }, webhooks }: Cluster,
  after: number,
  { readers, faults }: { readonly readers: Readers; readonly faults: string[] },
): Promise<Figures> {
  const chain = { changes: chronicle.changes(), wallets: chronicle.wallets() };
  const expected = await expectDeliveries(node, files.network.nethash, webhooks, after);
  const figures = new Map<string, number>();
  for (const webhook of webhooks) {
    const recorded = await readRecorded(postgres.query, webhook.id);
    const wanted = expected.get(webhook.id) ?? [];
    const verdict = judgeWebhook(webhook, { ...chain, wanted, recorded });
    for (const [name, count] of Object.entries(verdict.counts)) increase(figures, name, count);
    faults.push(...verdict.faults);
  }
  try {
    await compareTables(node, postgres);
    await compareEvents(node, postgres);
    await compareFacts(node, postgres);
  } catch (error) {
    faults.push(`the mirror differs from its node: ${(error as Error).message}`);
  }
  faults.push(...shown([...readers.faults, ...judgeReads(readers.reads, chain.changes)], MAX_SHOWN));
  const blocks = chain.changes.filter(({ kind }) => kind === "applied").length;
  return { blocks, ...Object.fromEntries(figures) };
}
