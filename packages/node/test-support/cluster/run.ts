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
import { watchFree } from "./processors.ts";
import { watchProgress } from "./progress.ts";
import { type Readers, startReaders } from "./readers.ts";
import { addCounts, type ClusterReport, linesOf, NO_COUNTS } from "./report.ts";
import { type Rounds, runRounds } from "./rounds.ts";
import { heal, settle } from "./settle.ts";
import { holdSnapshot } from "./snapshot.ts";
import { type Chain, judgeWebhook } from "./verdict.ts";
import { type ClusterWebhook, type Registered, registerWebhooks } from "./webhooks.ts";

export type RunOptions = {
  readonly seed: number;
  /** Seconds of fault injection. */
  readonly seconds: number;
  /** Names of the only faults that happen; default: all. */
  readonly only?: readonly string[];
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

/**
 * The outputs of all processes, the calls of all receivers and both databases of a run that fails remain in a folder.
 *
 * @throws {Error} if the cluster does not start, a fault cannot be healed, or the signal is aborted
 */
export async function runCluster({ log: logLine, ...options }: RunOptions): Promise<ClusterReport> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-cluster-"));
  mkdirSync(join(folder, "data"));
  const lines: string[] = [];
  const log = (line: string) => {
    lines.push(`${new Date().toISOString()} ${line}`);
    logLine(line);
  };
  const cluster = await startCluster(folder);
  const webhooks: ClusterWebhook[] = [];
  const save = (report: readonly string[]) =>
    saveEvidence({ seed: options.seed, cluster, webhooks, lines: [...lines, ...report] });
  let world: World | undefined;
  try {
    world = await unlessAborted(prepare(cluster, { ...options, log }), options.signal);
    webhooks.push(...world.registered.webhooks);
    const report = await unlessAborted(run(world, { ...options, log }), options.signal);
    return report.faults.length === 0 ? report : { ...report, evidence: await save(linesOf(report)) };
  } catch (error) {
    if (options.signal?.aborted) throw error;
    const { message, stack } = error as Error;
    throw new Error(`${message}; the evidence is in ${await save([`${stack}`])}`, { cause: error });
  } finally {
    for (const { receiver } of webhooks) await receiver.close();
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

/** Starts everything, registers the webhooks while no block is created, and hands them over to the workers. */
async function prepare(cluster: Cluster, { seed, log }: RunOptions): Promise<World> {
  const { data, database, nodeUrl } = cluster;
  log("the database and the node have started");
  const started = Promise.all(cluster.members.map((member) => member.start()));
  const replicated = database.hasReplica ? database.addReplica() : Promise.resolve();
  beginChronicle(data);
  await runDevCommand(nodeUrl, "mine", { blocks: MAX_DEPTH + 5 });
  await runDevCommand(nodeUrl, "forge", { enabled: false });
  await reached(async () => (await readCopy(database.postgres())).isStarted);
  log("the mirror follows its node");
  const chronicle = openChronicle(data);
  const node = openDatabase(join(data, "node.sqlite"), { readonly: true });
  const registered = await registerWebhooks(kindsOf(watched), { nodeUrl, node, random: createDraws(seed) });
  const registeredAt = chronicle.position();
  await handOver(cluster, "workers");
  await Promise.all([started, replicated]);
  cluster.reroute();
  await runDevCommand(nodeUrl, "forge", { enabled: true });
  log(
    `${cluster.members.length} processes, ${registered.webhooks.length} webhooks, PostgreSQL with ${partsOf(cluster)}`,
  );
  return { cluster, node, chronicle, registered, registeredAt };
}

const partsOf = ({ database, pooler }: Cluster): string =>
  [
    database.hasReplica ? "a replica" : "no replica (Debian's postgresql-15 is not installed)",
    pooler ? "pgbouncer" : "no pgbouncer (it is not installed)",
    database.fill ? "a small disk" : "no small disk (this user may not mount one)",
  ].join(", ");

/** Waits for a condition of the database. */
async function reached(isReached: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + WAIT_MS;
  while (!(await isReached().catch(() => false))) {
    if (performance.now() > endMs) throw new Error("the mirror does not follow its node");
    await sleep(POLL_MS);
  }
}

async function run(world: World, { seed, seconds, only, log }: RunOptions): Promise<ClusterReport> {
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
  const free = watchFree();
  let rounds: Rounds;
  try {
    rounds = await runRounds(
      { cluster, restless: webhooks.filter(({ isHealthy }) => !isHealthy) },
      { random: createDraws(seed), progress, load },
      {
        ...{ untilMs: performance.now() + seconds * 1_000, log, ...(only && { only }) },
        onFault: (fault) => void faults.push(fault),
      },
    );
    await load.stop();
    await heal(cluster, webhooks);
    log("the faults are over");
    await settle(cluster, world.node, log).then(
      () => log("every delivery has ended"),
      ({ message }: Error) => void faults.push(message),
    );
  } finally {
    await Promise.all([load.stop(), readers.stop(), progress.stop(), owners.stop(), snapshot.end()]);
    await balancer.close();
  }
  const verdict = await judgeAll(world, readers);
  return {
    ...verdict,
    faults: [...cluster.faults, ...faults, ...owners.faults, ...verdict.faults],
    ...{ seed, occurrences: rounds.occurrences, rounds: rounds.count, busyRounds: rounds.busy },
    ...{ free: free(), changes: owners.changes() },
    ...loadOf(load),
  };
}

const loadOf = (load: Load) => ({ submitted: load.submitted(), depths: load.depths() });

type Judged = Pick<ClusterReport, "counts" | "reads" | "root" | "chain" | "faults">;

async function judgeAll(
  { cluster, node, chronicle, registered, registeredAt }: World,
  readers: Readers,
): Promise<Judged> {
  const { query } = cluster.database.postgres();
  const [head] = await query<{ nethash: string }>("SELECT nethash FROM head");
  const chain: Chain = { changes: chronicle.changes(), wallets: chronicle.wallets(), registeredAt };
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
