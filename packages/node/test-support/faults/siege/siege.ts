/** Attacks a node in every known way, one attack after another, while honest users and an orchestrator observe it. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { type Figures, formatFigures, type Report, type Run, type Scenario } from "../scenario.ts";
import type { AttackData, AttackResult } from "./attack-thread.ts";
import { Attacker, type NamedAttack } from "./attacker.ts";
import { ATTACKS, networkOf } from "./attacks/all.ts";
import { faultsOf, HonestClient, startRegistered } from "./honest.ts";
import { type SiegedNode, startForging, type Target } from "./node.ts";
import { BOUNDS, type Bounds, growthOf, reportOf, SHORT_BOUNDS } from "./report.ts";

export type Course = {
  readonly attackMs: number;
  /** Pause after each attack, before its memory is measured. */
  readonly settleMs: number;
  readonly bounds: Bounds;
};

export type AttackReport = Report & { readonly attack: string };

const CLIENT = {
  paths: [
    ...["/api/v2/blockchain", "/api/v2/node/status", "/api/v2/transactions?limit=20"],
    ...["/api/v2/delegates", "/api/v2/blocks?limit=10", "/api/v2/transactions/unconfirmed"],
  ],
  network: 9,
  // Enough for each to stay far below the rate limit.
  addresses: 50,
  intervalMs: 150,
};
const HEALTH = { paths: ["/health/live"], network: 10, addresses: 1, intervalMs: 100 };
const MEMORY_INTERVAL_MS = 250;
/** Time in which an attack must begin and end, including the removal of its registrations, beside its duration. */
const END_TIMEOUT_MS = 180_000;
/** Time in which what an attack needs must be on the chain. */
const PREPARE_TIMEOUT_MS = 120_000;
/** Caches and compiled code grow in the first seconds of use, which is not an effect of an attack. */
const WARM_UP_MS = 10_000;
/** The first transactions start the verifier threads, which stay. */
const WARM_UP_ATTACK = "unfunded transactions";
const WARM_UP_ATTACK_MS = 2_000;

const LONG = { settleMs: 30_000, bounds: BOUNDS };
/** Attacks that are shorter are judged by the bounds of short ones. */
const SHORT_SECONDS = 10;
const SHORT = { settleMs: 1_000, bounds: SHORT_BOUNDS };

export const scenario: Scenario = {
  description:
    "a node is attacked in every known way, one after the other, while honest clients use it; the minutes are those of each attack",
  minutes: 1 / 3,
  faultNames: ATTACKS.map(({ name }) => name),
  run: runSiege,
};

async function runSiege({ seconds, only, log, faults: all }: Run): Promise<Figures> {
  const course = { attackMs: seconds * 1_000, ...(seconds < SHORT_SECONDS ? SHORT : LONG) };
  const attacks = ATTACKS.filter(({ name }) => only?.includes(name) ?? true);
  for await (const { attack, faults, figures } of besiege(attacks, course)) {
    log(`${attack}: ${formatFigures(figures)}`);
    all.push(...faults.map((fault) => `${attack}: ${fault}`));
  }
  return { attacks: attacks.length };
}

/** Runs the attacks, first those on the shared node, and yields the report of each when it is complete. */
export async function* besiege(
  attacks: readonly NamedAttack[],
  course: Course,
): AsyncGenerator<AttackReport> {
  const shared = attacks.filter(({ start }) => start === undefined);
  if (shared.length > 0) yield* observeAll(startForging, shared, course);
  for (const attack of attacks) if (attack.start) yield* observeAll(attack.start, [attack], course);
}

/** Observes attacks on one node. The report of an attack that cannot be observed has the reason. */
async function* observeAll(
  start: () => Promise<SiegedNode>,
  attacks: readonly NamedAttack[],
  course: Course,
): AsyncGenerator<AttackReport> {
  const left = attacks.map(({ name }) => name);
  let node: SiegedNode | undefined;
  let observers: Observers | undefined;
  try {
    node = await start();
    observers = await startObservers(node.target);
    await carryOut(node.target, WARM_UP_ATTACK, WARM_UP_ATTACK_MS);
    await sleep(WARM_UP_MS);
    for (const attack of attacks) {
      if (node.hasEnded) throw new Error("the node ended before");
      const { target } = node;
      const signal = AbortSignal.timeout(PREPARE_TIMEOUT_MS);
      await attack.prepare?.(new Attacker({ target, network: 100 + networkOf(attack.name), signal }));
      if (signal.aborted) throw new Error("what the attack needs is not on the chain");
      const measured = await observe(node, observers, attack, course);
      left.shift();
      yield { attack: attack.name, ...reportOf(measured, course.bounds) };
    }
  } catch (error) {
    const faults = [`failed to observe the attack: ${(error as Error).message}`];
    yield* left.map((attack) => ({ attack, faults, figures: {} }));
  } finally {
    observers?.client.stop();
    observers?.health.stop();
    await observers?.receiver.close();
    await node?.close();
  }
}

type Observers = Awaited<ReturnType<typeof startObservers>>;

async function startObservers(target: Target) {
  const receiver = await startRegistered(target);
  return { receiver, client: new HonestClient(target, CLIENT), health: new HonestClient(target, HEALTH) };
}

/** Measurements of a node during an attack. */
export type Measured = Awaited<ReturnType<typeof observe>>;

async function observe(
  node: SiegedNode,
  { client, health, receiver }: Observers,
  { name, minMs = 0, maxTickMs, expectedMiss, isSteady = false }: NamedAttack,
  { attackMs, settleMs }: Course,
) {
  const missesBefore = node.misses().length;
  const figuresBefore = await node.figures();
  await node.longestTick();
  client.take();
  health.take();
  const faultsBefore = new Set(faultsOf(receiver));
  const before = node.residentMib();
  const samples = [before];
  const sampling = setInterval(() => samples.push(node.residentMib()), MEMORY_INTERVAL_MS);
  const result = await carryOut(node.target, name, Math.max(attackMs, minMs));
  await sleep(settleMs);
  clearInterval(sampling);
  const longestTick = await node.longestTick();
  const figures = await node.figuresWithoutStreams();
  const signedTwice = node.slotsSignedTwice();
  const misses = node.misses().slice(missesBefore);
  const others = misses.filter(({ reason }) => !(expectedMiss && reason.includes(expectedMiss)));
  const problems: readonly (readonly [isPresent: boolean, text: string])[] = [
    [node.hasEnded, `the process ended: ${node.lastLines()}`],
    [figures === undefined, "/metrics did not respond"],
    [signedTwice.length > 0, `slots signed twice: ${signedTwice.join(", ")}`],
    [(figures?.streams ?? 0) > 0, `${figures?.streams} live streams are open after the attack`],
    [result.failure !== undefined, `the attack failed: ${result.failure}`],
  ];
  const deliveryFaults = faultsOf(receiver).filter((fault) => !faultsBefore.has(fault));
  return {
    ...{ offered: result.offered, refused: result.refused },
    /** Resident memory before the attack, and after the settle time. */
    memoryMib: { before, peak: Math.max(...samples), after: node.residentMib() },
    /** Share by which the memory grew; 0 unless the attack is steady. */
    memoryGrowth: isSteady ? growthOf(samples, MEMORY_INTERVAL_MS) : 0,
    client: client.take(),
    health: health.take(),
    longestTick,
    ...(maxTickMs !== undefined && { maxTickMs }),
    slotsForged: (figures?.forged ?? 0) - (figuresBefore?.forged ?? 0),
    slotsMissed: (figures?.missed ?? 0) - (figuresBefore?.missed ?? 0),
    /** Missed slots with a reason that the attack names, and the reasons of the others. */
    expectedMisses: misses.length - others.length,
    otherMisses: others.map(({ slot, reason }) => `slot ${slot}, "${reason}"`),
    faults: [
      ...deliveryFaults.map((fault) => `delivery: ${fault}`),
      ...problems.flatMap(([isPresent, text]) => (isPresent ? text : [])),
    ],
  };
}

/** Runs an attack for its duration in a separate thread, and waits until it has ended. */
async function carryOut(target: Target, name: string, attackMs: number): Promise<AttackResult> {
  const worker = new Worker(new URL("./attack-thread.ts", import.meta.url), {
    workerData: { name, target, attackMs } satisfies AttackData,
  });
  const signal = AbortSignal.timeout(attackMs + END_TIMEOUT_MS);
  try {
    const [result] = (await once(worker, "message", { signal })) as [AttackResult];
    return result;
  } catch (error) {
    const failure = signal.aborted ? "it did not end in time" : (error as Error).message;
    return { offered: 0, refused: 0, failure };
  } finally {
    await worker.terminate();
  }
}
