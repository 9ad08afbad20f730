/** Steps of a hand-over to delivery workers. */
import { setTimeout as sleep } from "node:timers/promises";
import { countOf } from "../platform/text/wording.ts";
import { OwnerError } from "../webhooks/hand-over/owner.ts";
import type { Sides } from "./deps.ts";
import { HandOverFailure } from "./error.ts";
import type { Pair } from "./next-step.ts";

const POLL_MS = 200;
/** Longer than any call to a receiver, and any request of a client. */
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
    // Before the workers own the register: later, these names could overwrite the names of a change.
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
