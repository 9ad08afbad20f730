/** Runs attacks one after another, on a shared or a separate node, while honest clients observe the node. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Attack } from "./attack-definition.ts";
import type { AttackData, AttackMessage, AttackResult } from "./attack-thread.ts";
import { ATTACKS } from "./attacks/all.ts";
import { startReceiver } from "./honest-receiver.ts";
import { missesSince, slotsSignedTwice } from "./missed-slots.ts";
import { startAsking } from "./observers/client.ts";
import { POOL_PATH, type Row } from "./report.ts";
import { startForging } from "./start-node.ts";
import { hasEnded, lastLines, type SiegedNode, type Target } from "./target.ts";

export type SiegeOptions = {
  /** Duration of each attack. */
  readonly attackMs: number;
  /** Pause after each attack, before its memory is measured. */
  readonly settleMs: number;
  /** Names of attacks; absent: all. */
  readonly only?: readonly string[];
  /** Skips attacks that need a separate node, whose start takes longer than a short attack, unless they are named. */
  readonly isShort?: boolean;
  /** Called with each row when it is complete. */
  readonly onRow?: ((row: Row) => void) | undefined;
  /** Called with each attack that cannot run on this machine, and the missing requirement. */
  readonly onLeftOut?: ((attack: string, requirement: string) => void) | undefined;
};

const HEALTH_INTERVAL_MS = 100;
const CLIENT_INTERVAL_MS = 150;
/** Enough addresses for each to stay far below the rate limit. */
const CLIENT_ADDRESSES = 50;
const CLIENT_PATHS = [
  "/api/v2/blockchain",
  "/api/v2/node/status",
  "/api/v2/transactions?limit=20",
  "/api/v2/delegates",
  "/api/v2/blocks?limit=10",
  POOL_PATH,
];
const MEMORY_INTERVAL_MS = 250;
/** Time in which an attack must end after the request, including the removal of its registrations. */
const END_TIMEOUT_MS = 120_000;
/** Time in which an attack must make its first offer. */
const BEGIN_TIMEOUT_MS = 60_000;
/** Caches and compiled code grow in the first seconds of use, which is not an effect of an attack. */
const WARM_UP_MS = 10_000;
/** The first transactions start the verifier threads, which stay. */
const WARM_UP_ATTACK = "unfunded transactions";
const WARM_UP_ATTACK_MS = 2_000;

type Times = Pick<SiegeOptions, "attackMs" | "settleMs">;

/**
 * Runs the attacks, and returns one row for each.
 *
 * @throws {Error} if a name is unknown
 */
export async function besiege({
  only,
  isShort = false,
  onRow,
  onLeftOut,
  ...times
}: SiegeOptions): Promise<Row[]> {
  const attacks = ATTACKS.filter(({ name, start }) => only?.includes(name) ?? !(isShort && start));
  const unknown = only?.filter((name) => !ATTACKS.some((attack) => attack.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`no such attack: ${unknown.join(", ")}`);

  const possible = attacks.filter(({ name, missingRequirement }) => {
    const missing = missingRequirement?.();
    if (missing !== undefined) onLeftOut?.(name, missing);
    return missing === undefined;
  });
  const rows: Row[] = [];
  const take = (row: Row) => {
    rows.push(row);
    onRow?.(row);
  };
  for (const { start, attacks } of byNode(possible)) {
    let node: SiegedNode | undefined;
    try {
      node = await start();
      await observeAll(node, attacks, times, take);
    } catch (error) {
      const isTaken = ({ name }: Attack) => rows.some(({ attack }) => attack === name);
      for (const attack of attacks) if (!isTaken(attack)) take(rowOfFailure(attack.name, error as Error));
    } finally {
      await node?.close();
    }
  }
  return rows;
}

/** Nodes to start one after another, with the attacks on each: first the shared node, then the nodes of single attacks. */
function byNode(attacks: readonly Attack[]): { start: () => Promise<SiegedNode>; attacks: Attack[] }[] {
  const shared = attacks.filter(({ start }) => start === undefined);
  return [
    ...(shared.length > 0 ? [{ start: () => startForging(), attacks: shared }] : []),
    ...attacks.flatMap((attack) => (attack.start ? [{ start: attack.start, attacks: [attack] }] : [])),
  ];
}

/** Row of an attack that could not be observed: its node did not start, or its receiver was not registered. */
const rowOfFailure = (attack: string, { message }: Error): Row => ({
  attack,
  offered: 0,
  refused: 0,
  memoryMib: { before: 0, peak: 0, after: 0 },
  client: [],
  health: [],
  longestTick: { ms: 0, wallMs: 0 },
  slotsForged: 0,
  slotsMissed: 0,
  expectedMisses: [],
  otherMisses: [],
  deliveryFaults: [],
  faults: [`failed to observe the attack: ${message}`],
});

async function observeAll(
  node: SiegedNode,
  attacks: readonly Attack[],
  times: Times,
  take: (row: Row) => void,
): Promise<void> {
  const { target } = node;
  const endpoint = { host: target.host, port: target.httpPort };
  const receiver = await startReceiver(target);
  const client = startAsking({
    ...endpoint,
    paths: CLIENT_PATHS,
    network: 9,
    addresses: CLIENT_ADDRESSES,
    intervalMs: CLIENT_INTERVAL_MS,
  });
  const health = startAsking({
    ...endpoint,
    paths: ["/health/live"],
    network: 10,
    addresses: 1,
    intervalMs: HEALTH_INTERVAL_MS,
  });
  try {
    await carryOut(node.target, WARM_UP_ATTACK, WARM_UP_ATTACK_MS);
    await sleep(WARM_UP_MS);
    for (const attack of attacks) {
      await attack.prepare?.(node.target);
      const row = await observe(node, { client, health, receiver }, attack, times);
      take(row);
      if (hasEnded(node)) break;
    }
  } finally {
    client.stop();
    health.stop();
    await receiver.close();
  }
}

type Observers = {
  readonly client: ReturnType<typeof startAsking>;
  readonly health: ReturnType<typeof startAsking>;
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>;
};

async function observe(
  node: SiegedNode,
  { client, health, receiver }: Observers,
  { name, minMs = 0, maxTickMs }: Attack,
  { attackMs, settleMs }: Times,
): Promise<Row> {
  const before = node.residentMib();
  const missesBefore = node.logged("slot missed").length;
  const figuresBefore = await readFigures(node);
  await node.longestTick();
  client.take();
  health.take();
  receiver.faults();
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, node.residentMib());
  }, MEMORY_INTERVAL_MS);
  const result = await carryOut(node.target, name, Math.max(attackMs, minMs));
  await sleep(settleMs);
  clearInterval(sampling);
  const longestTick = await node.longestTick();
  const figuresAfter = await readFigures(node);
  const streams = figuresAfter?.streams ?? 0;
  const signedTwice = slotsSignedTwice(node);
  return {
    attack: name,
    offered: result.offered,
    refused: result.refused,
    memoryMib: { before, peak, after: node.residentMib() },
    client: client.take(),
    health: health.take(),
    longestTick,
    ...(maxTickMs !== undefined && { maxTickMs }),
    slotsForged: (figuresAfter?.forged ?? 0) - (figuresBefore?.forged ?? 0),
    slotsMissed: (figuresAfter?.missed ?? 0) - (figuresBefore?.missed ?? 0),
    ...missesSince(node, missesBefore, result.outages),
    deliveryFaults: receiver.faults(),
    faults: [
      ...(hasEnded(node) ? [`the process ended: ${lastLines(node)}`] : []),
      ...(figuresAfter ? [] : ["/metrics did not respond"]),
      ...(signedTwice.length > 0 ? [`slots signed twice: ${signedTwice.join(", ")}`] : []),
      ...(streams > 0 ? [`${streams} live streams are open after the attack`] : []),
      ...(result.failure === undefined ? [] : [`the attack failed: ${result.failure}`]),
    ],
  };
}

const readFigures = (node: SiegedNode) => node.figures().catch(() => undefined);

const NOTHING = { offered: 0, refused: 0, outages: [] };

/** Runs an attack for its duration in a separate thread, and waits until it has ended. */
async function carryOut(target: Target, name: string, attackMs: number): Promise<AttackResult> {
  const worker = new Worker(new URL("./attack-thread.ts", import.meta.url), {
    workerData: { name, target } satisfies AttackData,
  });
  const begun = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<AttackResult>();
  worker.on("message", (message: AttackMessage) =>
    message === "begun" ? begun.resolve() : sent.resolve(message),
  );
  const ended = Promise.race([
    sent.promise,
    once(worker, "error").then(([error]) => ({ ...NOTHING, failure: (error as Error).message })),
  ]);
  await Promise.race([ended, begun.promise, sleep(BEGIN_TIMEOUT_MS, undefined, { ref: false })]);
  await Promise.race([ended, sleep(attackMs)]);
  worker.postMessage("end");
  const late = { ...NOTHING, failure: `it did not end within ${END_TIMEOUT_MS / 1_000} s` };
  const result = await Promise.race([ended, sleep(END_TIMEOUT_MS, late, { ref: false })]);
  await worker.terminate();
  return result;
}
