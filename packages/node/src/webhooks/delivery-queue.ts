/**
 * The delivery queue: the database port of the webhook service to send, retry, replay, list and drop deliveries. Every
 * webhook has its own queue. Each implementation has its own folder; all of them must pass the same tests
 * (`packages/node/test/webhooks/queue-port`).
 *
 * Deliveries are written by matching, in the transaction that moves the cursor of the event log: `intake.ts`.
 * Times are milliseconds since 1970. A change is on disk when its promise settles.
 *
 * Every call settles within `CALL_TIMEOUT_MS`, even if the database is blocked. A failed call has changed nothing and holds no
 * lock, so that it can be repeated. The dispatcher does so after a pause.
 */
import { CodedError } from "../platform/coded-error.ts";
import type { Attempt } from "./model/deliveries.ts";
import type { DeliveryLogRows } from "./storage/delivery-log.ts";
import type { PendingReads } from "./storage/pending.ts";
import type { PingOutcome } from "./storage/pings.ts";
import type { FinishStep } from "./storage/queues.ts";
import type { ReplayRows } from "./storage/replays.ts";
import type { RetentionSteps } from "./storage/retention.ts";

/** Time within which every call settles. */
export const CALL_TIMEOUT_MS = 10_000;

export type DeliveryQueue = PendingReads & {
  /**
   * Records the outcomes of attempts in order, all or none: the attempt in the log, the state of the delivery, and the
   * consequences for the webhook. A delivery without a recorded outcome stays pending, and is the next one again.
   */
  record(outcomes: readonly AttemptOutcome[]): Promise<readonly RecordedOutcome[]>;
  /** Records a delivery that was attempted outside the queue. Returns its number. */
  recordPing(ping: PingOutcome): Promise<number>;
  /** Finishes some deliveries that must not be sent, and continues restarting queues. */
  finishStep(atMs: number): Promise<FinishStep>;
  readonly ownership: Ownership;
  readonly log: DeliveryLogRows;
  readonly replays: ReplayRows;
  readonly retention: RetentionSteps;
};

/**
 * The webhooks that this process owns: it alone matches their events and sends their deliveries. A node owns all webhooks
 * without a lease; a worker owns some, as long as it renews its lease.
 */
export type Ownership = {
  /**
   * Claims free webhooks, renews the lease, and returns what has changed since the last call. To be called regularly.
   *
   * @throws {NameInUseError} if the lease has ended, and another process has the name of this one; it then owns nothing
   */
  renew(): Promise<OwnershipChange>;
  /** Gives up webhooks that `renew` returned as `surplus`, after their running calls. */
  giveUp(webhooks: readonly number[]): Promise<void>;
  /** Ends the lease, so that other workers need not wait. */
  release(): Promise<void>;
  /** Returns whether a call of the webhook may start: this process owns it, and is not giving it up. */
  owns(webhook: number): boolean;
  /** Returns the epoch of this process as the owner of a webhook (`nextEpoch`); undefined if another process owns it. */
  epochOf(webhook: number): number | undefined;
  /** Returns the milliseconds for which calls of owned webhooks may still run; `Infinity` without a lease. */
  remainingMs(): number;
  /** Returns and removes the changes of owned queues by other processes. */
  takeChanges(): Promise<readonly QueueChange[]>;
};

export type OwnershipChange = {
  /** Webhooks that this process owns now. */
  readonly gained: readonly number[];
  /** Webhooks that another worker owns: running calls must not be recorded. */
  readonly lost: readonly number[];
  /** Webhooks that other workers should own: to be given up once their running calls have ended. */
  readonly surplus: readonly number[];
};

/** `isRestart`: the queue restarts from its first delivery; running calls are repeated. */
export type QueueChange = { readonly webhook: number; readonly isRestart: boolean };

/** Another process has the name of this worker. */
export class NameInUseError extends CodedError<"WORKER_NAME_IN_USE"> {
  constructor(worker: string) {
    super(
      "WORKER_NAME_IN_USE",
      `another process delivers with the name "${worker}": stop it, or give this one another name with --name`,
      { isRetryable: false },
    );
  }
}

/** Creates the ownership of a process that owns all webhooks. */
export const createSoleOwner = (epoch: number): Ownership => ({
  renew: async () => ({ gained: [], lost: [], surplus: [] }),
  async giveUp() {},
  async release() {},
  owns: () => true,
  epochOf: () => epoch,
  remainingMs: () => Number.POSITIVE_INFINITY,
  takeChanges: async () => [],
});

/** A finished attempt and its consequences. */
export type AttemptOutcome = {
  readonly webhook: number;
  readonly delivery: number;
  readonly attempt: Attempt;
  /** Time at which the attempt ended. */
  readonly atMs: number;
  /**
   * Called URL; absent: the URL of the webhook. An attempt at a former target of the webhook is logged without
   * consequences: its delivery waits for the current target.
   */
  readonly target?: string;
  /** The failure; absent after a success. */
  readonly failure?: AttemptFailure;
};

export type AttemptFailure = {
  readonly reason: string;
  /** Earliest time of the next attempt; undefined if the delivery has finally failed. */
  readonly retryMs: number | undefined;
  /** Suspends the webhook with a reason, if it has only failed since before `ifFailingBeforeMs`. */
  readonly suspension: { readonly reason: string; readonly ifFailingBeforeMs?: number };
};

export type RecordedOutcome = {
  /**
   * `false` if the delivery was cancelled or dropped meanwhile, or the webhook has another target. The attempt is in the log
   * if the delivery is, but has no consequences.
   */
  readonly isCurrent: boolean;
  /** Consecutive failures of the webhook, including this one; 0 after a success. */
  readonly failures: number;
  /** Reason of the suspension, if the webhook was suspended. */
  readonly suspended?: string;
};
