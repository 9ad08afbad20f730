/** Consequences of an attempt for its delivery and its webhook (webhooks.md 7.3 and 10, points 4 and 6). */
import type { Logger } from "pino";
import { type Attempted, type Clock, logSuspension, type WebhookObserver } from "../collaborators.ts";
import type {
  AttemptFailure,
  AttemptOutcome,
  RecordedOutcome,
  WaitingDelivery,
} from "../model/deliveries.ts";
import type { WebhookOptions } from "../options.ts";
import {
  NO_PAUSES,
  nextAttemptAt,
  type Pauses,
  parseRetryAfterMs,
  probePauseMs,
  targetPauseMs,
} from "./retry.ts";

export type EndedAttempt = {
  readonly webhook: number;
  readonly delivery: WaitingDelivery;
  readonly attempted: Attempted;
};

type ConsequencesDeps = Pick<WebhookOptions, "retryPausesMs" | "suspendAfterMs"> & {
  readonly clock: Pick<Clock, "steadyMs">;
  readonly observer: Pick<WebhookObserver, "attempted" | "decided">;
  readonly random: () => number;
  readonly logger: Pick<Logger, "info" | "debug">;
};

const GONE = 410;

export class Consequences {
  readonly #deps: ConsequencesDeps;
  /** Webhooks whose targets get only probes. */
  readonly #probed = new Set<number>();

  constructor(deps: ConsequencesDeps) {
    this.#deps = deps;
  }

  /** Returns the outcome to record for an attempt. */
  decide(ended: EndedAttempt): AttemptOutcome {
    const { webhook, delivery, attempted } = ended;
    const { reason } = attempted;
    return {
      webhook,
      delivery: delivery.number,
      target: delivery.target,
      attempt: attempted,
      atMs: endMsOf(attempted),
      ...(reason !== undefined && { failure: this.#failureOf(ended, reason) }),
    };
  }

  #failureOf({ delivery, attempted }: EndedAttempt, reason: string): AttemptFailure {
    const { retryPausesMs, suspendAfterMs, clock, random } = this.#deps;
    const { status, retryAfter } = attempted;
    const atMs = endMsOf(attempted);
    if (status === GONE) {
      return { reason, retryAtMs: undefined, suspension: { reason: "the target responded with 410 Gone" } };
    }
    const attempts = delivery.attempts + 1;
    const retryAfterMs = parseRetryAfterMs(retryAfter, atMs);
    const steadyMs = clock.steadyMs();
    return {
      reason,
      retryAtMs: nextAttemptAt({ attempts, atMs: steadyMs, retryAfterMs }, retryPausesMs, random),
      // A clock that was set ahead, or a node that was stopped, suspends no webhook after a few failures.
      suspension: {
        reason: "the target failed for too long",
        ifFailingBeforeMs: Math.min(atMs, steadyMs) - suspendAfterMs,
        minFailures: retryPausesMs.length + 1,
      },
    };
  }

  /** Must be called once the outcome is recorded. */
  conclude(ended: EndedAttempt, { failure }: AttemptOutcome, recorded: RecordedOutcome): Pauses {
    const { observer, logger } = this.#deps;
    const { webhook, attempted } = ended;
    observer.attempted(attempted);
    if (!recorded.isCurrent) return NO_PAUSES;
    if (failure) return this.#concludeFailure(ended, failure, recorded);
    observer.decided(webhook, "delivered");
    if (this.#probed.delete(webhook)) logger.info({ webhook }, "webhook target works again");
    return NO_PAUSES;
  }

  #concludeFailure(
    { webhook, delivery, attempted }: EndedAttempt,
    { retryAtMs: nextMs }: AttemptFailure,
    { failures, suspended }: RecordedOutcome,
  ): Pauses {
    const { observer, logger } = this.#deps;
    const { status, retryAfter, reason } = attempted;
    observer.decided(webhook, nextMs === undefined ? "failed" : "retried");
    logger.debug(
      { webhook, delivery: delivery.message.id, attempts: delivery.attempts + 1, status, reason, nextMs },
      "delivery failed",
    );
    const probeMs = probePauseMs(failures);
    if (suspended !== undefined) {
      this.#probed.delete(webhook);
      logSuspension(logger, webhook, suspended);
    } else if (probeMs > 0 && !this.#probed.has(webhook)) {
      this.#probed.add(webhook);
      logger.info({ webhook, failures, reason }, "webhook target keeps failing; only probing it");
    }
    const requestedMs = targetPauseMs(status, parseRetryAfterMs(retryAfter, endMsOf(attempted)));
    return { probeMs, requestedMs };
  }
}

const endMsOf = ({ startedMs, durationMs }: Attempted): number => startedMs + durationMs;
