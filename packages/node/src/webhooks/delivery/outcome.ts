/** What an attempt means for its delivery and its webhook (webhooks.md 7.3 and 10, points 4 and 6). */
import type { Logger } from "pino";
import type { DeliveryStore, Waiting } from "../../store/webhooks/deliveries.ts";
import type { WebhookHealthStore } from "../../store/webhooks/webhook-health.ts";
import type { WebhookObserver } from "../observer.ts";
import type { Suspend } from "../suspension.ts";
import type { Attempted } from "./attempt.ts";
import { nextAttemptAt, probePauseMs, restMs, retryAfterMsOf } from "./retry.ts";

/** An attempt that has ended. */
export type Ended = {
  readonly webhook: number;
  readonly delivery: Waiting;
  readonly attempted: Attempted;
};

export type OutcomeDeps = {
  health: Pick<WebhookHealthStore, "recordSuccess" | "recordFailure">;
  deliveries: Pick<DeliveryStore, "recordAttempt" | "finish" | "postpone">;
  suspend: Suspend;
  observer: Pick<WebhookObserver, "attempted" | "decided">;
  random: () => number;
  logger: Logger;
  /** Pause after each failed attempt; nothing follows the last one. */
  retryPausesMs: readonly number[];
  /** A webhook that does nothing but fail for so long is suspended. */
  suspendAfterMs: number;
};

/** Writes the outcome of an attempt; answers for how long the target is left alone. */
export function createOutcomeWriter(deps: OutcomeDeps): (ended: Ended) => number {
  const { health, deliveries, observer, random, logger } = deps;
  /** Webhooks whose targets are left alone but for probes. */
  const probed = new Set<number>();

  return ({ webhook, delivery, attempted }) => {
    const { number } = delivery;
    const { startedMs, durationMs, status, retryAfter, reason } = attempted;
    const atMs = startedMs + durationMs;
    deliveries.recordAttempt(number, attempted);
    observer.attempted(attempted);
    if (reason === undefined) {
      if (!deliveries.finish(number, "delivered", atMs)) return 0;
      health.recordSuccess(webhook);
      observer.decided(webhook, "delivered");
      if (probed.delete(webhook)) logger.info({ webhook }, "webhook target answers again");
      return 0;
    }
    const isGone = status === 410;
    const attempts = delivery.attempts + 1;
    const retryAfterMs = retryAfterMsOf(retryAfter, atMs);
    const nextMs = isGone
      ? undefined
      : nextAttemptAt({ attempts, atMs, retryAfterMs }, deps.retryPausesMs, random);
    const isCurrent =
      nextMs === undefined
        ? deliveries.finish(number, "failed", atMs, reason)
        : deliveries.postpone(number, nextMs, atMs, reason);
    // A definition that was replaced or deleted meanwhile says nothing about the present one.
    if (!isCurrent) return 0;
    observer.decided(webhook, nextMs === undefined ? "dead" : "retried");
    logger.debug(
      { webhook, delivery: delivery.message.id, attempts, status, reason, nextMs },
      "delivery failed",
    );
    const { failures, failingSinceMs } = health.recordFailure(webhook, atMs);
    const probeMs = probePauseMs(failures);
    if (isGone) suspend(webhook, "the target answered 410 Gone", atMs);
    else if (atMs - failingSinceMs > deps.suspendAfterMs)
      suspend(webhook, "the target failed for too long", atMs);
    else if (probeMs > 0 && !probed.has(webhook)) {
      probed.add(webhook);
      logger.info({ webhook, failures, reason }, "webhook target keeps failing, and is only probed");
    }
    return Math.max(probeMs, restMs(status, retryAfterMs));
  };

  function suspend(webhook: number, reason: string, atMs: number): void {
    probed.delete(webhook);
    deps.suspend(webhook, reason, atMs);
  }
}
