/** Ownership of webhooks: which of them a process matches and sends. */
import { CodedError } from "../platform/coded-error.ts";

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
