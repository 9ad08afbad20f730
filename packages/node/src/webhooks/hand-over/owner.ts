/**
 * The owner of the webhooks: the node or the delivery workers (docs/decisions/0054). Each of the two databases has a state, and
 * each side sends only while its own state names it. A hand-over changes one state at a time.
 */
import { CodedError } from "../../platform/coded-error.ts";

export const OWNER_STATES = ["node", "to workers", "workers", "to node"] as const;
export type OwnerState = (typeof OWNER_STATES)[number];

export type Owner = {
  readonly state: OwnerState;
  /** Id of the last hand-over; undefined before the first. */
  readonly transfer: string | undefined;
};

export type OwnerChange = {
  readonly from: OwnerState;
  readonly to: OwnerState;
  readonly transfer: string;
};

export const OWNED_BY_NODE: Owner = { state: "node", transfer: undefined };

/** States that follow a state: the hand-over continues, or is cancelled. */
const NEXT: Readonly<Record<OwnerState, readonly OwnerState[]>> = {
  node: ["to workers"],
  "to workers": ["workers", "node"],
  workers: ["to node"],
  "to node": ["node", "workers"],
};

/** A hand-over cannot continue, because the state of a side is not the expected one. */
export class OwnerError extends CodedError<"OWNER_CHANGED"> {
  constructor({ state, transfer }: Owner, change: OwnerChange) {
    const id = transfer === undefined ? "" : `, hand-over ${transfer}`;
    super(
      "OWNER_CHANGED",
      `the state of the webhooks is "${state}"${id}, not "${change.from}": another hand-over has changed it; run the command again`,
      { isRetryable: false },
    );
  }
}

/**
 * Returns the owner after a change; the current one if it has already been made.
 *
 * @throws {OwnerError} if the change does not continue from the current state
 */
export function nextOwner(current: Owner, change: OwnerChange): Owner {
  const { from, to, transfer } = change;
  if (current.state === to && current.transfer === transfer) return current;
  const isNew = from === "node" || from === "workers";
  const isSame = current.state === from && (isNew || current.transfer === transfer);
  if (!isSame || !NEXT[from].includes(to)) throw new OwnerError(current, change);
  return { state: to, transfer };
}

type HandOverErrorCode =
  /** The webhooks belong to another chain, or the mirror copies the events of another node. */
  | "OTHER_NODE"
  /** The log of one side does not have all events that are not matched yet. */
  | "EVENTS_MISSING"
  /** A part of the rows is not the next one: another command sends them as well. */
  | "PART_UNEXPECTED"
  /** A step is not complete yet; retry in a moment. */
  | "NOT_READY";

/** A hand-over does not begin or continue. */
export class HandOverError extends CodedError<HandOverErrorCode> {
  constructor(code: HandOverErrorCode, message: string) {
    super(code, message, { isRetryable: code === "NOT_READY" });
  }
}
