/** Steps of a hand-over to delivery workers, and of one to the node. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { countOf } from "../platform/text/wording.ts";
import type { HandOverHead, HandOverLine } from "../webhooks/hand-over/lines.ts";
import type { PartOrder } from "../webhooks/hand-over/node-side.ts";
import { OwnerError } from "../webhooks/hand-over/owner.ts";
import type { TakenWebhooks } from "../webhooks/hand-over/ports.ts";
import { HandOverFailure, type Pair } from "./next-step.ts";
import type { Sides } from "./node-client.ts";

const POLL_MS = 200;
/** Any call to a receiver, and any request of a client, ends earlier. */
const MAX_STOP_MS = 120_000;
const REPORT_EVERY_ROWS = 100_000;

/**
 * Checks, before the node stops, whether the workers will have everything that they need.
 *
 * @throws {HandOverFailure} HAND_OVER_REFUSED
 */
export async function checkWorkers({ node, workers }: Sides): Promise<void> {
  const { matched, isEncrypted } = await node.status();
  if (isEncrypted && !workers.isEncrypted)
    throw refused(
      "the node encrypts the secrets of webhooks: give the key file of the workers with --webhook-key-file, or create one with: openssl rand -hex 32",
    );
  if (!(await workers.lastCopied()))
    throw refused("the mirror has not begun to copy the events of the node: start it, or wait a moment");
  if ((await workers.countMissing(matched)) > 0)
    throw refused(
      `the mirror began to copy events after ${matched}, the last one that the node has matched: wait until the node has caught up`,
    );
}

const refused = (message: string): HandOverFailure => new HandOverFailure("HAND_OVER_REFUSED", message);

/** Stops the webhooks of the node. */
export async function stopNode(sides: Sides, transfer: string): Promise<void> {
  await checkWorkers(sides);
  sides.report("the node stops its webhooks");
  const copied = await sides.workers.lastCopied();
  await sides.node.change({ from: "node", to: "to workers", transfer }, copied);
}

/**
 * Copies all rows, and makes the workers the owner.
 *
 * @throws {OwnerError} if another command has cancelled or completed the hand-over
 */
export async function copyToWorkers(sides: Sides, transfer: string): Promise<void> {
  const { node, gateway, workers, report } = sides;
  await awaitStop(sides, transfer);
  let copied = 0;
  await workers.write(node.rows(transfer), {
    transfer,
    onRows(count) {
      if (Math.floor(count / REPORT_EVERY_ROWS) > Math.floor(copied / REPORT_EVERY_ROWS))
        report(`copied ${countOf(count, "rows")}`);
      copied = count;
    },
    // This precedes the moment at which the workers own the register: later, these names could overwrite the names of a change.
    onWritten: async (names) => void (await gateway.replaceRemoteNames(names)),
  });
  report(`copied ${countOf(copied, "rows")}`);
}

async function awaitStop({ node, report, signal }: Sides, transfer: string): Promise<void> {
  const endMs = performance.now() + MAX_STOP_MS;
  let isReported = false;
  for (;;) {
    const owner = await node.status();
    const { state, isStopped } = owner;
    if (state !== "to workers" || owner.transfer !== transfer)
      throw new OwnerError(
        { state, transfer: owner.transfer },
        { from: "to workers", to: "workers", transfer },
      );
    if (isStopped) return;
    if (!isReported) report("waiting for running calls of the node");
    isReported = true;
    if (performance.now() > endMs)
      throw new HandOverFailure(
        "HAND_OVER_TIMEOUT",
        "calls of the node do not end; restart the node, and run the command again",
      );
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Makes the node forget its rows, which the workers have. */
export async function completeToWorkers({ node }: Sides, transfer: string): Promise<void> {
  await node.change({ from: "to workers", to: "workers", transfer });
}

/**
 * Makes the node the owner again.
 *
 * @throws {OwnerError} if the workers own the webhooks by now
 */
export async function cancelToWorkers(sides: Sides, transfer: string, pair: Pair): Promise<void> {
  const { node, gateway, workers } = sides;
  const change = { from: "to workers", to: "node", transfer } as const;
  // Only the node has the id if the database has lost a commit.
  if (pair.workers.state === "node" && pair.workers.transfer !== transfer)
    await workers.change({ from: "node", to: "to workers", transfer });
  // A command that is still copying cannot commit after this.
  await workers.change(change);
  if (pair.node.state === "to workers") await node.change(change);
  await gateway.replaceRemoteNames([]);
}

/** The lease of a worker with the highest timeout of calls ends earlier. */
const MAX_WAIT_MS = 180_000;
const RENEW_EVERY_PARTS = 20;
const REPORT_EVERY_PARTS = 200;

/** Lets the log of the node keep all events that the mirror has not copied. */
export async function prepareNode({ node, workers }: Sides, transfer: string): Promise<void> {
  await node.change({ from: "workers", to: "to node", transfer }, await workers.lastCopied());
}

/**
 * Stops the workers, copies all rows, and makes the node the owner.
 *
 * @throws {OwnerError} if another command has cancelled or completed the hand-over
 */
export async function copyToNode(sides: Sides, transfer: string): Promise<void> {
  sides.report("waiting until the workers have finished their calls");
  const taken = await sides.workers.takeAll(transfer, MAX_WAIT_MS);
  try {
    const count = await taken.read((lines) => send(sides, transfer, { lines, renew: () => taken.renew() }));
    sides.report(`copied ${countOf(count, "rows")}`);
  } finally {
    await taken.release();
  }
}

type Sending = Pick<TakenWebhooks, "renew"> & { readonly lines: AsyncIterable<HandOverLine> };

/** Returns the number of rows. */
async function send({ node, report }: Sides, transfer: string, { lines, renew }: Sending): Promise<number> {
  const session = randomUUID();
  const order = (part: number): PartOrder => ({ transfer, session, part });
  let head: HandOverHead | undefined;
  let [count, part] = [0, 0];
  await node.send(order(part++), undefined);
  for await (const line of lines) {
    if ("webhooks" in line) head = line.webhooks;
    if (!("rows" in line)) continue;
    await node.send(order(part++), line);
    count += line.rows.length;
    if (part % RENEW_EVERY_PARTS === 0) await renew();
    if (part % REPORT_EVERY_PARTS === 0) report(`copied ${countOf(count, "rows")}`);
  }
  if (!head) throw new HandOverFailure("HAND_OVER_REFUSED", "the database returned no rows");
  await node.finish(order(part), head, count);
  return count;
}

/** Drops the rows of the workers. The node has everything, and sends. */
export async function completeToNode({ node, gateway, workers }: Sides, transfer: string): Promise<void> {
  const change = { from: "to node", to: "node", transfer } as const;
  // It resolves when the log records the events of the node's webhooks, also after a crash of the former command.
  await node.change(change);
  await gateway.replaceRemoteNames([]);
  await workers.drop(change);
}

/**
 * Makes the workers the owner again.
 *
 * @throws {HandOverFailure} HAND_OVER_REFUSED if the node owns the webhooks by now
 */
export async function cancelToNode(sides: Sides, transfer: string): Promise<void> {
  const { node, workers } = sides;
  // Both sides then have the same id. A command that is still copying cannot complete after this.
  if ((await node.status()).state === "workers") await prepareNode(sides, transfer);
  await node.change({ from: "to node", to: "workers", transfer });
  await workers.change({ from: "to node", to: "workers", transfer });
}
