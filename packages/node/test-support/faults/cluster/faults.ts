/** Seeded faults of a cluster. Each heals what it has broken before it settles. */
import { setTimeout as sleep } from "node:timers/promises";
import { createDraws, type Random } from "../../random.ts";
import type { ClusterDatabase } from "../actors/database.ts";
import type { LinkState } from "../actors/link.ts";
import type { Member } from "../actors/member.ts";
import { BEHAVIOURS } from "../actors/receiver.ts";
import { type Fault, increase, type Run, weighted } from "../scenario.ts";
import { abandonHandOver, type Cluster, handOver, LEASE_MS } from "./cluster.ts";

type Inject = Fault<Cluster>["inject"];

type ClusterFault = Fault<Cluster> & {
  /** Two faults with the same concern do not happen at the same time. */
  readonly concern: "processes" | "database" | "connections" | "receivers" | "clocks" | "owner";
  /** Property of the database without which the fault is impossible. */
  readonly needs?: "hasReplica" | "hasDisk" | "hasPooler";
};

const seconds = (count: number) => sleep(count * 1_000);

type MembersOf = (cluster: Cluster) => readonly Member[];

const kill =
  (membersOf: MembersOf, maxSeconds: number): Inject =>
  (cluster, random) => {
    const member = random.pick(membersOf(cluster));
    return member.restart("SIGKILL", random.chance(0.4) ? 0 : random.integer(1, maxSeconds));
  };

const killWorkers: Inject = async ({ workers }) => {
  await Promise.all(workers.map((worker) => worker.restart("SIGKILL", 0)));
  return "all workers were killed and started";
};

/** Suspends a process for longer than its lease. */
const stop =
  (membersOf: MembersOf, maxLeases: number): Inject =>
  (cluster, random) => {
    const member = random.pick(membersOf(cluster));
    return member.pauseFor(Math.round((random.integer(1, 2 * maxLeases) / 2) * (LEASE_MS / 1_000)));
  };

const restartWorker: Inject = (cluster, random) =>
  random.pick(cluster.workers).restart("SIGTERM", random.integer(0, 3));

const breakDatabase =
  (
    text: string,
    [min, max]: readonly [number, number],
    work: (database: ClusterDatabase, ms: number) => Promise<void>,
  ): Inject =>
  async ({ database }, random) => {
    const pause = random.integer(min, max);
    await work(database, pause * 1_000);
    return `${text} ${pause} s`;
  };

const DOWN = "was killed, and started after";
const crashDatabase = breakDatabase(`the database ${DOWN}`, [0, 4], (database, ms) => database.crash(ms));
const crashPooler = breakDatabase(`the pooler ${DOWN}`, [0, 5], (database, ms) => database.crashPooler(ms));
const fillDisk = breakDatabase("the disk of the database was full for", [2, 8], (database, ms) =>
  database.fillDisk(ms),
);

const promoteReplica: Inject = async (cluster, random) => {
  const lost = random.integer(500, 4_000);
  await cluster.database.promote(lost);
  cluster.reroute();
  await cluster.database.addReplica();
  cluster.reroute();
  return `the replica was promoted without the last ${lost} ms`;
};

const BROKEN: readonly LinkState[] = ["cut", "stalled", "slow", "mute"];

const breakLinks: Inject = async (cluster, random) => {
  const member = random.pick(cluster.members.filter(({ links }) => links.length > 0));
  const link = random.pick(member.links);
  const state = random.pick(BROKEN);
  const pause = random.integer(1, 16);
  link.become(state);
  await seconds(pause);
  link.become("open");
  return `the connections of ${member.name} to the ${link.to} were ${state} for ${pause} s`;
};

const misbehave: Inject = async ({ restless }, random) => {
  const some = restless.filter(() => random.chance(0.4));
  const states: string[] = [];
  for (const { id, receiver } of some) {
    await receiver.become(random.pick([...BEHAVIOURS, "slow" as const]));
    states.push(`${id} ${receiver.behaviour}`);
  }
  await seconds(random.integer(2, 10));
  for (const { receiver } of some) await receiver.become(random.chance(0.5) ? "slow" : "well");
  return `receivers of webhooks: ${states.join(", ")}`;
};

const HOUR_MS = 3_600_000;

const skewClock: Inject = async (cluster, random) => {
  const worker = random.pick(cluster.workers);
  const aheadMs = random.chance(0.5) ? HOUR_MS : -HOUR_MS;
  const pause = random.integer(3, 15);
  cluster.setClock(worker, aheadMs);
  await seconds(pause);
  cluster.setClock(worker, 0);
  return `the clock of ${worker.name} was an hour ${aheadMs > 0 ? "fast" : "slow"} for ${pause} s`;
};

/** Hands the webhooks over to the node and back; some of the commands are killed. */
const handOverTwice: Inject = async (cluster, random) => {
  const kills = () => Array.from({ length: random.integer(0, 2) }, () => random.integer(500, 5_000));
  const [toNode, toWorkers] = [kills(), kills()];
  const pause = random.integer(0, 8);
  await handOver(cluster, "node", toNode);
  await seconds(pause);
  await handOver(cluster, "workers", toWorkers);
  const killed = toNode.length + toWorkers.length;
  return `the webhooks were handed over to the node for ${pause} s; ${killed} commands were killed`;
};

const abandon: Inject = async (cluster, random) => {
  const killMs = random.integer(500, 5_000);
  await abandonHandOver(cluster, killMs);
  return `a hand-over was killed after ${killMs} ms and cancelled`;
};

export const FAULTS: readonly ClusterFault[] = [
  { name: "worker killed", concern: "processes", weight: 4, inject: kill(({ workers }) => workers, 20) },
  { name: "all workers killed", concern: "processes", weight: 1, inject: killWorkers },
  { name: "worker restarted", concern: "processes", weight: 2, inject: restartWorker },
  { name: "worker stopped", concern: "processes", weight: 3, inject: stop(({ workers }) => workers, 3) },
  { name: "node killed", concern: "processes", weight: 2, inject: kill(({ chain }) => [chain.node], 5) },
  { name: "mirror killed", concern: "processes", weight: 2, inject: kill(({ mirrors }) => mirrors, 20) },
  { name: "mirror stopped", concern: "processes", weight: 2, inject: stop(({ mirrors }) => mirrors, 2) },
  { name: "server killed", concern: "processes", weight: 2, inject: kill(({ servers }) => servers, 5) },
  { name: "database killed", concern: "database", weight: 3, inject: crashDatabase },
  { name: "replica promoted", concern: "database", weight: 3, inject: promoteReplica, needs: "hasReplica" },
  { name: "disk full", concern: "database", weight: 2, inject: fillDisk, needs: "hasDisk" },
  { name: "pooler killed", concern: "database", weight: 1, inject: crashPooler, needs: "hasPooler" },
  { name: "connections broken", concern: "connections", weight: 4, inject: breakLinks },
  { name: "receivers failing", concern: "receivers", weight: 4, inject: misbehave },
  { name: "handed over", concern: "owner", weight: 4, inject: handOverTwice },
  { name: "hand-over cancelled", concern: "owner", weight: 1, inject: abandon },
  { name: "clock skewed", concern: "clocks", weight: 2, inject: skewClock },
];

/** Probability of a second fault at the same time. */
const SECOND = 0.4;

/** Injects one or two faults at a time. Returns the number of occurrences by fault. */
export async function injectAll(cluster: Cluster, { seed, seconds, only, log }: Run) {
  const random = createDraws(seed);
  const untilMs = performance.now() + seconds * 1_000;
  const possible = weighted(FAULTS, only).filter(({ needs }) => !needs || cluster.database[needs]);
  const happened = new Map<string, number>();
  while (performance.now() < untilMs) {
    await sleep(random.integer(500, 2_000));
    const round = drawRound(possible, random);
    const injections = round.map(({ inject }) => inject(cluster, createDraws(random.integer(0, 2 ** 31))));
    log((await Promise.all(injections)).join("; "));
    for (const { name } of round) increase(happened, name);
  }
  return happened;
}

function drawRound(possible: readonly ClusterFault[], random: Random): ClusterFault[] {
  const first = random.pick(possible);
  const others = possible.filter(({ concern }) => concern !== first.concern);
  return random.chance(SECOND) && others.length > 0 ? [first, random.pick(others)] : [first];
}
