/** The siege: attacks one after the other against one node, observed by those it must not disturb. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Attack } from "./attack.ts";
import type { AttackData, AttackResult } from "./attack-thread.ts";
import { ATTACKS } from "./attacks/all.ts";
import { startAsking } from "./observers/client.ts";
import { startReceiver } from "./observers/receiver.ts";
import type { Row } from "./report.ts";
import { type SiegedNode, startNode, type Target } from "./target.ts";

export type SiegeOptions = {
  /** Of each attack. */
  readonly attackMs: number;
  /** After each attack, before its memory is measured. */
  readonly settleMs: number;
  /** Names of attacks; all unless given. */
  readonly only?: readonly string[];
  /** Called with each row as soon as it is known. */
  readonly onRow?: ((row: Row) => void) | undefined;
};

const HEALTH_INTERVAL_MS = 100;
const CLIENT_INTERVAL_MS = 150;
/** Enough of them that each stays far below the rate limit of a minute. */
const CLIENT_ADDRESSES = 50;
const CLIENT_PATHS = [
  "/api/v2/blockchain",
  "/api/v2/node/status",
  "/api/v2/transactions?limit=20",
  "/api/v2/delegates",
  "/api/v2/blocks?limit=10",
];
const MEMORY_INTERVAL_MS = 250;
/** Time in which an attack must have ended after it was asked to, the removal of what it registered included. */
const END_TIMEOUT_MS = 120_000;
/** Caches and compiled code grow in the first seconds of use; that is no effect of an attack. */
const WARM_UP_MS = 10_000;
const FORGING_TIMEOUT_MS = 60_000;

/**
 * Runs the attacks; one row for each.
 *
 * @throws {Error} when the node does not start, or an attack has no such name
 */
export async function besiege({ attackMs, settleMs, only, onRow }: SiegeOptions): Promise<Row[]> {
  const attacks = ATTACKS.filter(({ name }) => only?.includes(name) ?? true);
  const unknown = only?.filter((name) => !ATTACKS.some((attack) => attack.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`no such attack: ${unknown.join(", ")}`);

  const node = await startNode();
  try {
    await untilForging(node);
    return await observeAll(node, attacks, { attackMs, settleMs, onRow });
  } finally {
    await node.close();
  }
}

async function observeAll(
  node: SiegedNode,
  attacks: readonly Attack[],
  { attackMs, settleMs, onRow }: Pick<SiegeOptions, "attackMs" | "settleMs" | "onRow">,
): Promise<Row[]> {
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
  const rows: Row[] = [];
  try {
    await sleep(WARM_UP_MS);
    for (const { name } of attacks) {
      const row = await observe(node, { client, health, receiver }, name, { attackMs, settleMs });
      rows.push(row);
      onRow?.(row);
      if (hasEnded(node)) break;
    }
  } finally {
    client.stop();
    health.stop();
    await receiver.close();
  }
  return rows;
}

type Observers = {
  readonly client: ReturnType<typeof startAsking>;
  readonly health: ReturnType<typeof startAsking>;
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>;
};

async function observe(
  node: SiegedNode,
  { client, health, receiver }: Observers,
  attack: string,
  { attackMs, settleMs }: Pick<SiegeOptions, "attackMs" | "settleMs">,
): Promise<Row> {
  const before = node.residentMib();
  const figuresBefore = await readFigures(node);
  client.take();
  health.take();
  receiver.faults();
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, node.residentMib());
  }, MEMORY_INTERVAL_MS);
  const result = await carryOut(node.target, attack, attackMs);
  await sleep(settleMs);
  clearInterval(sampling);
  const figuresAfter = await readFigures(node);
  const streams = figuresAfter?.streams ?? 0;
  return {
    attack,
    offered: result.offered,
    refused: result.refused,
    memoryMib: { before, peak, after: node.residentMib() },
    client: client.take(),
    health: health.take(),
    slotsForged: (figuresAfter?.forged ?? 0) - (figuresBefore?.forged ?? 0),
    slotsMissed: (figuresAfter?.missed ?? 0) - (figuresBefore?.missed ?? 0),
    deliveryFaults: receiver.faults(),
    faults: [
      ...(hasEnded(node) ? [`the process ended: ${lastLines(node)}`] : []),
      ...(figuresAfter ? [] : ["the metrics are not answered"]),
      ...(streams > 0 ? [`${streams} live streams are open after the attack`] : []),
      ...(result.failure === undefined ? [] : [`the attack failed: ${result.failure}`]),
    ],
  };
}

const readFigures = (node: SiegedNode) => node.figures().catch(() => undefined);

const hasEnded = ({ process: { child } }: SiegedNode): boolean =>
  child.exitCode !== null || child.signalCode !== null;

/** Runs an attack for its time in a thread of its own, and waits until it has ended. */
async function carryOut(target: Target, name: string, attackMs: number): Promise<AttackResult> {
  const worker = new Worker(new URL("./attack-thread.ts", import.meta.url), {
    workerData: { name, target } satisfies AttackData,
  });
  const ended = Promise.race([
    once(worker, "message").then(([result]) => result as AttackResult),
    once(worker, "error").then(([error]) => ({ offered: 0, refused: 0, failure: (error as Error).message })),
  ]);
  await Promise.race([ended, sleep(attackMs)]);
  worker.postMessage("end");
  const late = { offered: 0, refused: 0, failure: `it did not end within ${END_TIMEOUT_MS / 1_000} s` };
  const result = await Promise.race([ended, sleep(END_TIMEOUT_MS, late, { ref: false })]);
  await worker.terminate();
  return result;
}

async function untilForging(node: SiegedNode): Promise<void> {
  const endsMs = performance.now() + FORGING_TIMEOUT_MS;
  while (((await readFigures(node))?.forged ?? 0) < 2) {
    if (performance.now() > endsMs) throw new Error(`the node does not forge:\n${lastLines(node)}`);
    await sleep(500);
  }
}

const lastLines = ({ process }: SiegedNode): string => process.stderr().split("\n").slice(-10).join("\n");
