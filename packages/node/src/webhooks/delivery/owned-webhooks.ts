/** Consequences of a change of owner: webhooks that this process gains, loses or gives up. */
import type { Clock } from "../collaborators.ts";
import type { Queues } from "./active-queues.ts";
import type { InFlight, UnderWay } from "./in-flight.ts";
import type { Outcomes } from "./unwritten-outcomes.ts";

/** Time to start a call and to record its outcome, in addition to its timeout. */
export const CALL_MARGIN_MS = 1_000;

export type OwnedWebhooks = {
  /** Reads the queues of webhooks that this process owns from now on. */
  gained(webhooks: readonly number[]): void;
  /** Aborts the calls of webhooks that another process owns, and drops all that is in memory about them. */
  lost(webhooks: readonly number[]): void;
  /** Settles when every outcome of the webhooks is on disk, or after the timeout of a call. */
  finishCalls(webhooks: readonly number[]): Promise<void>;
};

export type OwnedWebhooksDeps = {
  readonly queues: Queues;
  readonly inFlight: InFlight;
  readonly outcomes: Outcomes;
  readonly underWay: UnderWay;
  readonly notify: () => void;
  readonly clock: Pick<Clock, "after">;
  /** Time within which a call ends and its outcome is on disk. */
  readonly finishMs: number;
};

export const createOwnedWebhooks = (deps: OwnedWebhooksDeps): OwnedWebhooks => ({
  gained(webhooks) {
    for (const webhook of webhooks) deps.queues.restart(webhook);
    if (webhooks.length > 0) deps.notify();
  },
  lost(webhooks) {
    for (const webhook of webhooks) {
      deps.queues.remove(webhook);
      deps.inFlight.abort(webhook);
    }
    deps.outcomes.drop(new Set(webhooks));
  },
  async finishCalls(webhooks) {
    const timeout = Promise.withResolvers<void>();
    const cancel = deps.clock.after(deps.finishMs, timeout.resolve);
    await Promise.race([deps.underWay.ended(webhooks), timeout.promise]);
    cancel();
  },
});
