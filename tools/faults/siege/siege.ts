/**
 * Attacks a node in every known way, one attack after another on a shared or a separate node, while an honest client reads from it, an
 * honest receiver gets its blocks and an orchestrator checks its health.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Receiver } from "../../../packages/node/test-support/faults/actors/receiver.ts";
import type { Report, Run, Scenario } from "../../../packages/node/test-support/faults/scenario.ts";
import type { AttackData, AttackResult } from "./attack-thread.ts";
import { type Attack, Attacker } from "./attacker.ts";
import { ATTACKS, networkOf } from "./attacks/all.ts";
import { type Client, faultsOf, registerReceiver, startClient } from "./honest.ts";
import { type SiegedNode, startForging, type Target } from "./node.ts";
import { BOUNDS, emptyRow, failures, formatRow, growthOf, type Row, SHORT_BOUNDS, TITLES } from "./report.ts";

type Times = {
  /** Duration of each attack. */
  readonly attackMs: number;
  /** Pause after each attack, before its memory is measured. */
  readonly settleMs: number;
};

type Observers = { readonly client: Client; readonly health: Client; readonly receiver: Receiver };

const CLIENT = {
  paths: [
    "/api/v2/blockchain",
    "/api/v2/node/status",
    "/api/v2/transactions?limit=20",
    "/api/v2/delegates",
    "/api/v2/blocks?limit=10",
    "/api/v2/transactions/unconfirmed",
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

/** Attacks that are shorter have the bounds of short ones. */
const SHORT_SECONDS = 10;
/** Pauses after an attack, before its memory is measured. */
const SHORT_PAUSE_MS = 1_000;
const PAUSE_MS = 30_000;

export const scenario: Scenario = {
  description:
    "a node is attacked in every known way, one after the other, while honest clients use it; the minutes are those of each attack",
  minutes: 1 / 3,
  faults: ATTACKS.map(({ name }) => name),
  run: runSiege,
};

/** Prints a row for each attack. */
async function runSiege({ seconds, only }: Run): Promise<Report> {
  const isShort = seconds < SHORT_SECONDS;
  const bounds = isShort ? SHORT_BOUNDS : BOUNDS;
  const times = { attackMs: seconds * 1_000, settleMs: isShort ? SHORT_PAUSE_MS : PAUSE_MS };
  const attacks = ATTACKS.filter(({ name }) => only?.includes(name) ?? true);
  const faults: string[] = [];
  console.log(TITLES);
  for await (const row of besiege(attacks, times)) {
    console.log(formatRow(row, bounds));
    faults.push(...failures(row, bounds).map((failure) => `${row.attack}: ${failure}`));
  }
  return { faults, figures: { attacks: attacks.length } };
}

/** Runs the attacks, first those on the shared node, and returns a row for each when it is complete. */
export async function* besiege(attacks: readonly Attack[], times: Times): AsyncGenerator<Row> {
  const shared = attacks.filter(({ start }) => start === undefined);
  if (shared.length > 0) yield* observeAll(startForging, shared, times);
  for (const attack of attacks) if (attack.start) yield* observeAll(attack.start, [attack], times);
}

/** Observes attacks on one node. Attacks that cannot be observed get a row with the reason. */
async function* observeAll(
  start: () => Promise<SiegedNode>,
  attacks: readonly Attack[],
  times: Times,
): AsyncGenerator<Row> {
  const left = [...attacks];
  let node: SiegedNode | undefined;
  let observers: Observers | undefined;
  try {
    node = await start();
    observers = await startObservers(node.target);
    await carryOut(node.target, WARM_UP_ATTACK, WARM_UP_ATTACK_MS);
    await sleep(WARM_UP_MS);
    for (const attack of attacks) {
      if (node.hasEnded) throw new Error("the node ended before");
      await prepare(node.target, attack);
      const row = await observe(node, observers, attack, times);
      left.shift();
      yield row;
    }
  } catch (error) {
    const faults = [`failed to observe the attack: ${(error as Error).message}`];
    yield* left.map(({ name }) => ({ ...emptyRow(name), faults }));
  } finally {
    observers?.client.stop();
    observers?.health.stop();
    await observers?.receiver.close();
    await node?.close();
  }
}

async function startObservers(target: Target): Promise<Observers> {
  const receiver = await registerReceiver(target);
  return { receiver, client: startClient(target, CLIENT), health: startClient(target, HEALTH) };
}

async function prepare(target: Target, attack: Attack): Promise<void> {
  const signal = AbortSignal.timeout(PREPARE_TIMEOUT_MS);
  await attack.prepare?.(new Attacker({ target, network: 100 + networkOf(attack), signal }));
  if (signal.aborted) throw new Error("what the attack needs is not on the chain");
}

async function observe(
  node: SiegedNode,
  { client, health, receiver }: Observers,
  { name, minMs = 0, maxTickMs, expectedMiss, isSteady = false }: Attack,
  { attackMs, settleMs }: Times,
): Promise<Row> {
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
  const figures = await node.figures();
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
  return {
    attack: name,
    offered: result.offered,
    refused: result.refused,
    memoryMib: { before, peak: Math.max(...samples), after: node.residentMib() },
    memoryGrowth: isSteady ? growthOf(samples, MEMORY_INTERVAL_MS) : 0,
    client: client.take(),
    health: health.take(),
    longestTick,
    ...(maxTickMs !== undefined && { maxTickMs }),
    slotsForged: (figures?.forged ?? 0) - (figuresBefore?.forged ?? 0),
    slotsMissed: (figures?.missed ?? 0) - (figuresBefore?.missed ?? 0),
    expectedMisses: misses.length - others.length,
    otherMisses: others.map(({ slot, reason }) => `slot ${slot}, "${reason}"`),
    deliveryFaults: faultsOf(receiver).filter((fault) => !faultsBefore.has(fault)),
    faults: problems.filter(([isPresent]) => isPresent).map(([, text]) => text),
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
