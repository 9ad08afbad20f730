/** Steps of a hand-over to the node. */
import { randomUUID } from "node:crypto";
import { countOf } from "../platform/text/wording.ts";
import type { HandOverHead, HandOverLine } from "../webhooks/hand-over/lines.ts";
import type { PartOrder } from "../webhooks/hand-over/node-side.ts";
import type { TakenWebhooks } from "../webhooks/hand-over/workers-side.ts";
import type { Sides } from "./deps.ts";
import { HandOverFailure } from "./error.ts";

/** Longer than the lease of a worker with the highest timeout of calls. */
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
    const count = await taken.read((lines) => send(sides, transfer, { lines, renew: taken.renew }));
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
  // Settles when the log records the events of the node's webhooks, also after a crash of the former command.
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
