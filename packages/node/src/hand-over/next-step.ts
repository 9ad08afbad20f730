/**
 * The step that follows the states of both sides (docs/decisions/0054). A pair in which both could send has no next
 * step: the command ends, and can be run again, because both states are durable.
 */
import { CodedError } from "../platform/coded-error.ts";
import type { Owner, OwnerState } from "../webhooks/hand-over/owner.ts";

type HandOverFailureCode =
  /** The node cannot be reached, or ended a response early. */
  | "HAND_OVER_NODE"
  /** The node or the database refuses the hand-over. */
  | "HAND_OVER_REFUSED"
  /** The states of both sides contradict each other. */
  | "HAND_OVER_CONFLICT"
  /** The hand-over can only be completed, or none is running. */
  | "HAND_OVER_LATE"
  /** A step did not complete in time. */
  | "HAND_OVER_TIMEOUT";

export class HandOverFailure extends CodedError<HandOverFailureCode> {
  constructor(code: HandOverFailureCode, message: string, options?: ErrorOptions) {
    const isRetryable = code === "HAND_OVER_NODE" || code === "HAND_OVER_TIMEOUT";
    super(code, message, { isRetryable, ...options });
  }
}

export type Target = "workers" | "node";

/** The state of the node, and the state in the database of the workers. */
export type Pair = { readonly node: Owner; readonly workers: Owner };

export type Step =
  /** PostgreSQL stores the id, which is new unless a cancellation was interrupted, or another command continued meanwhile. */
  | { readonly kind: "begin"; readonly transfer: string | undefined }
  | { readonly kind: "prepare" | "copy" | "complete"; readonly transfer: string }
  | { readonly kind: "done" };

type Rule = { readonly node: OwnerState; readonly workers: OwnerState; readonly kind: Step["kind"] };

const RULES: Readonly<Record<Target, readonly Rule[]>> = {
  workers: [
    { node: "node", workers: "node", kind: "begin" },
    { node: "to workers", workers: "node", kind: "begin" },
    { node: "node", workers: "to workers", kind: "prepare" },
    { node: "to workers", workers: "to workers", kind: "copy" },
    { node: "to workers", workers: "workers", kind: "complete" },
    { node: "workers", workers: "workers", kind: "done" },
  ],
  node: [
    { node: "workers", workers: "workers", kind: "begin" },
    { node: "to node", workers: "workers", kind: "begin" },
    { node: "workers", workers: "to node", kind: "prepare" },
    { node: "to node", workers: "to node", kind: "copy" },
    { node: "node", workers: "to node", kind: "complete" },
    { node: "node", workers: "node", kind: "done" },
  ],
};

/** Pairs of states that belong to two hand-overs: only one side has the new id. */
const OF_TWO: readonly (readonly [node: OwnerState, workers: OwnerState])[] = [
  ["node", "node"],
  ["node", "to workers"],
  ["to workers", "node"],
  ["workers", "to node"],
];

const isConsistent = ({ node, workers }: Pair): boolean =>
  node.transfer === workers.transfer ||
  OF_TWO.some(([ofNode, ofWorkers]) => node.state === ofNode && workers.state === ofWorkers);

/** @throws {HandOverFailure} */
export function nextStep(target: Target, pair: Pair): Step {
  const step = stepOf(target, pair);
  if (!step) throw refusalOf(target, pair);
  return step;
}

function stepOf(target: Target, pair: Pair): Step | undefined {
  const { node, workers } = pair;
  const rule = RULES[target].find((rule) => rule.node === node.state && rule.workers === workers.state);
  if (!rule || !isConsistent(pair)) return undefined;
  const { kind } = rule;
  if (kind === "done") return { kind };
  if (kind === "begin") return { kind, transfer: node.state === workers.state ? undefined : node.transfer };
  const { transfer } = kind === "complete" && target === "workers" ? node : workers;
  return transfer === undefined ? undefined : { kind, transfer };
}

/** Returns the id of the hand-over if it can be cancelled before the step. */
export const cancellableTransfer = (step: Step): string | undefined =>
  step.kind === "complete" || step.kind === "done" ? undefined : step.transfer;

export const describePair = ({ node, workers }: Pair): string =>
  `the node is in the state "${node.state}", and the database in the state "${workers.state}"`;

function refusalOf(target: Target, pair: Pair): HandOverFailure {
  const states = describePair(pair);
  const to: Target = target === "workers" ? "node" : "workers";
  const step = stepOf(to, pair);
  if (step) {
    const cancel = cancellableTransfer(step) === undefined ? "" : `, or cancel it with --to ${to} --cancel`;
    return new HandOverFailure(
      "HAND_OVER_REFUSED",
      `${states}: a hand-over to the ${to} is not complete; finish it with --to ${to}${cancel}`,
    );
  }
  const { node, workers } = pair;
  const both =
    node.state === "node" && workers.state === "workers" ? "both would send webhooks" : "they do not match";
  return new HandOverFailure(
    "HAND_OVER_CONFLICT",
    `${states}: ${both}; check --node and --database-url. If one of them was restored from a backup, stop it, and see docs/guides/scale-out.md`,
  );
}
