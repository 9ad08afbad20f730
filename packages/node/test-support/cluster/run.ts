/** Runs a cluster under load and seeded faults, lets it settle, and checks what receivers and clients have. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { NetworkFiles } from "@uniknode/protocol";
import { readCopy } from "../../src/mirror/events/rows.ts";
import { present } from "../../src/platform/present.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { runDevCommand } from "../mirror/dev-chain.ts";
import { startRoundRobin } from "../serve/round-robin.ts";
import { beginChronicle, type Chronicle, openChronicle } from "../simulation/chronicle.ts";
import { kindsOf } from "../simulation/kinds.ts";
import { createDraws } from "../simulation/random.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { compareWithNode } from "./comparison.ts";
import { readRecorded } from "./deliveries.ts";
import { saveEvidence } from "./evidence.ts";
import { handOver } from "./hand-over.ts";
import { type Load, MAX_DEPTH, startLoad, watched } from "./load.ts";
import { expectDeliveries } from "./oracle.ts";
import { watchOwners } from "./owners.ts";
import { watchProgress } from "./progress.ts";
import { type Readers, startReaders } from "./readers.ts";
import { addCounts, type ClusterReport, NO_COUNTS } from "./report.ts";
import { type Occurrences, runRounds } from "./rounds.ts";
import { heal, settle } from "./settle.ts";
import { holdSnapshot } from "./snapshot.ts";
import { type Chain, judgeWebhook } from "./verdict.ts";
import { type Registered, registerWebhooks } from "./webhooks.ts";

export type RunOptions = {
  readonly seed: number;
  /** Seconds of fault injection. */
  readonly seconds: number;
  /** Reports progress. */
  readonly log: (line: string) => void;
  /** Ends the run early. */
  readonly signal?: AbortSignal;
};

/** Everything that a run has opened. */
type World = {
  readonly cluster: Cluster;
  /** Database of the node, to read. */
  readonly node: Database;
  readonly chronicle: Chronicle;
  readonly registered: Registered;
  readonly registeredAt: number;
};

const POLL_MS = 100;
const WAIT_MS = 60_000;

/** @throws {Error} if the cluster does not start, does not settle, or the signal is aborted */
export async function runCluster(options: RunOptions): Promise<ClusterReport> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-cluster-"));
  mkdirSync(join(folder, "data"));
  const cluster = await startCluster(folder);
  let world: World | undefined;
  try {
    world = await unlessAborted(prepare(cluster, options), options.signal);
    return await unlessAborted(run(world, options), options.signal);
  } finally {
    for (const { receiver } of world?.registered.webhooks ?? []) await receiver.close();
    world?.chronicle.close();
    world?.node.close();
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Settles with a promise, unless the signal is aborted before. */
function unlessAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  signal?.addEventListener("abort", () => aborted.reject(new Error("the run was interrupted")), {
    once: true,
  });
  return Promise.race([promise, aborted.promise]);
}

/** Starts the mirrors, registers the webhooks while no block is created, and starts everything else. */
async function prepare(cluster: Cluster, { seed, log }: RunOptions): Promise<World> {
  const { data, database, nodeUrl } = cluster;
  beginChronicle(data);
  await runDevCommand(nodeUrl, "mine", { blocks: MAX_DEPTH + 5 });
  for (const mirror of cluster.mirrors) await mirror.start();
  await reached(async () => (await readCopy(database.postgres())).isStarted);
  await runDevCommand(nodeUrl, "forge", { enabled: false });
  const chronicle = openChronicle(data);
  const node = openDatabase(join(data, "node.sqlite"), { readonly: true });
  const registered = await registerWebhooks(kindsOf(watched), { nodeUrl, node, random: createDraws(seed) });
  const registeredAt = chronicle.position();
  await handOver(cluster, "workers");
  await Promise.all([...cluster.workers, ...cluster.servers].map((member) => member.start()));
  await runDevCommand(nodeUrl, "forge", { enabled: true });
  const replica = database.hasReplica ? "a replica" : "no replica: Debian's postgresql-15 is not installed";
  log(
    `${cluster.members.length} processes, ${registered.webhooks.length} webhooks, PostgreSQL with ${replica}`,
  );
  return { cluster, node, chronicle, registered, registeredAt };
}

/** Waits for a condition of the database. */
async function reached(isReached: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + WAIT_MS;
  while (!(await isReached().catch(() => false))) {
    if (performance.now() > endMs) throw new Error("the mirror does not follow its node");
    await sleep(POLL_MS);
  }
}

async function run(world: World, { seed, seconds, log }: RunOptions): Promise<ClusterReport> {
  const { cluster, registered } = world;
  const { webhooks } = registered;
  const faults: string[] = [];
  const owners = watchOwners(cluster.database);
  const snapshot = holdSnapshot(cluster.database);
  const balancer = await startRoundRobin(cluster.serverUrls);
  const readers = startReaders(balancer.url, [watched.address], seed);
  const load = startLoad(cluster, seed);
  const healthy = webhooks.filter(({ isHealthy }) => isHealthy).map(({ id }) => id);
  const progress = watchProgress(cluster, { healthy, readHeight: readers.height });
  let occurrences: ReadonlyMap<string, Occurrences>;
  try {
    occurrences = await runRounds(
      { cluster, restless: webhooks.filter(({ isHealthy }) => !isHealthy) },
      { random: createDraws(seed), progress },
      { untilMs: performance.now() + seconds * 1_000, log, onFault: (fault) => void faults.push(fault) },
    );
    await load.stop();
    await heal(cluster, webhooks);
    log("the faults are over");
    await settle(cluster, world.node).catch((error: Error) => faults.push(error.message));
    log("every delivery has ended");
  } finally {
    await Promise.all([load.stop(), readers.stop(), progress.stop(), owners.stop(), snapshot.end()]);
    await balancer.close();
  }
  const verdict = await judgeAll(world, readers);
  const report = {
    ...verdict,
    faults: [...cluster.faults, ...faults, ...owners.faults, ...verdict.faults],
    ...{ seed, occurrences, changes: owners.changes() },
    ...loadOf(load),
  };
  if (report.faults.length > 0) log(`evidence is in ${await saveEvidence({ seed, cluster, webhooks })}`);
  return report;
}

const loadOf = (load: Load) => ({ submitted: load.submitted(), depths: load.depths() });

type Judged = Pick<ClusterReport, "counts" | "reads" | "root" | "chain" | "faults">;

async function judgeAll(
  { cluster, node, chronicle, registered, registeredAt }: World,
  readers: Readers,
): Promise<Judged> {
  const { query } = cluster.database.postgres();
  const [head] = await query<{ nethash: string }>("SELECT nethash FROM head");
  const chain: Chain = {
    ...{ changes: chronicle.changes(), wallets: chronicle.wallets(), registeredAt },
    nodeLives: cluster.node.lives(),
  };
  const expected = await expectDeliveries(node, present(head).nethash, registered);
  const counts = { ...NO_COUNTS };
  const faults: string[] = [];
  for (const webhook of registered.webhooks) {
    const recorded = await readRecorded(query, webhook.id);
    const wanted = expected.deliveries.get(webhook.id) ?? [];
    const verdict = judgeWebhook(webhook, { chain, wanted, recorded });
    addCounts(counts, verdict.counts);
    faults.push(...verdict.faults);
  }
  const wrong = [...readers.faults, ...readers.judge(chain.changes)];
  const files = (await cluster.client.get("/api/node/configuration/crypto")) as NetworkFiles;
  const root = await compareWithNode(node, cluster.database.postgres(), files).catch((error: Error) => {
    faults.push(`the mirror differs from its node: ${error.message}`);
    return "different";
  });
  const applied = chain.changes.filter(({ kind }) => kind === "applied").length;
  return {
    counts,
    root,
    reads: { ...readers.figures(), wrong: wrong.length },
    chain: { blocks: applied, undone: chain.changes.length - applied, events: expected.events },
    faults: [...faults, ...wrong.slice(0, 8)],
  };
}
