/**
 * Hands the webhooks over between a node and delivery workers (docs/decisions/0054): reads the states of both sides, and
 * continues with the step that follows, until the target owns the webhooks.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { OwnerError } from "../webhooks/hand-over/owner.ts";
import {
  cancellableTransfer,
  describePair,
  HandOverFailure,
  nextStep,
  type Pair,
  type Step,
  type Target,
} from "./next-step.ts";
import type { Sides } from "./node-client.ts";
import {
  cancelToNode,
  cancelToWorkers,
  checkWorkers,
  completeToNode,
  completeToWorkers,
  copyToNode,
  copyToWorkers,
  prepareNode,
  stopNode,
} from "./steps.ts";

export type HandOverOptions = {
  readonly to: Target;
  /** Height of the node's chain from which on a new hand-over begins; undefined: at once. */
  readonly at: number | undefined;
};

type Steps = Readonly<
  Record<"prepare" | "copy" | "complete", (sides: Sides, transfer: string) => Promise<void>>
>;
const STEPS: Readonly<Record<Target, Steps>> = {
  workers: { prepare: stopNode, copy: copyToWorkers, complete: completeToWorkers },
  node: { prepare: prepareNode, copy: copyToNode, complete: completeToNode },
};
const POLL_MS = 500;

/**
 * Resolves when the target owns the webhooks.
 *
 * @returns false if it did before
 * @throws {HandOverFailure | HandOverError | OwnerError}
 */
export async function handOver(options: HandOverOptions, sides: Sides): Promise<boolean> {
  const { to } = options;
  for (let isChanged = false; ; isChanged = true) {
    const step = nextStep(to, await readPair(sides));
    if (step.kind === "done") return isChanged;
    if (step.kind === "begin") {
      if (isChanged)
        throw new HandOverFailure(
          "HAND_OVER_REFUSED",
          "another command has cancelled the hand-over; run this one again to begin another",
        );
      await begin(options, step, sides);
    } else await STEPS[to][step.kind](sides, step.transfer).catch(ignoreOwnerError);
  }
}

/** Another command has cancelled or continued the hand-over: the states of both sides, which are read again, say which. */
function ignoreOwnerError(error: unknown): void {
  if (!(error instanceof OwnerError)) throw error;
}

async function readPair({ node, workers }: Sides): Promise<Pair> {
  const [{ state, transfer }, owner] = await Promise.all([node.status(), workers.owner()]);
  return { node: { state, transfer }, workers: owner };
}

async function begin(
  { to, at }: HandOverOptions,
  { transfer = randomUUID() }: Extract<Step, { readonly kind: "begin" }>,
  sides: Sides,
): Promise<void> {
  if (to === "workers") await checkWorkers(sides);
  if (at !== undefined) await awaitHeight(at, sides);
  const change =
    to === "workers"
      ? ({ from: "node", to: "to workers", transfer } as const)
      : ({ from: "workers", to: "to node", transfer } as const);
  await sides.workers.change(change);
}

async function awaitHeight(at: number, { node, report, signal }: Sides): Promise<void> {
  let isReported = false;
  while ((await node.height()) < at) {
    if (!isReported) report(`waiting for block ${at}`);
    isReported = true;
    await sleep(POLL_MS, undefined, { signal });
  }
}

/**
 * Returns to the former owner, while the target does not own the webhooks.
 *
 * @throws {HandOverFailure} HAND_OVER_LATE if no such hand-over is running, or it can only be completed
 */
export async function cancelHandOver(to: Target, sides: Sides): Promise<void> {
  const pair = await readPair(sides);
  const step = nextStep(to, pair);
  const transfer = cancellableTransfer(step);
  if (transfer === undefined) throw late(to, pair, step);
  if (to === "workers") await cancelToWorkers(sides, transfer, pair);
  else await cancelToNode(sides, transfer);
}

const late = (to: Target, pair: Pair, { kind }: Step): HandOverFailure =>
  new HandOverFailure(
    "HAND_OVER_LATE",
    kind === "complete"
      ? `the hand-over to the ${to} can no longer be cancelled: ${describePair(pair)}; finish it with --to ${to}`
      : `no hand-over to the ${to} is running: ${describePair(pair)}`,
  );
