/** What an attempt means for its delivery and its webhook (webhooks.md 7.3 and section 10, points 4 and 6). */
import type { Logger } from "pino";
import type { DeliveryStore, Waiting } from "../../store/deliveries.ts";
import type { WebhookStore } from "../../store/webhooks.ts";
import type { DeliveryAnswer } from "./post.ts";
import { nextAttemptAt, probePauseMs } from "./retry.ts";

export type Attempt = {
  readonly webhook: number;
  readonly delivery: Waiting;
  /** When it ended. */
  readonly atMs: number;
  /** The answer, or why there is none. */
  readonly result: DeliveryAnswer | { readonly reason: string };
};

export type OutcomeDeps = {
  webhooks: Pick<WebhookStore, "recordSuccess" | "recordFailure" | "suspend">;
  deliveries: Pick<DeliveryStore, "finish" | "postpone" | "cancel">;
  random: () => number;
  logger: Logger;
  /** A webhook that does nothing but fail for so long is suspended. */
  suspendAfterMs: number;
};

/** Writes the outcome of an attempt; answers for how long the target is left alone. */
export function createOutcomeWriter(deps: OutcomeDeps): (attempt: Attempt) => number {
  const { webhooks, deliveries, random, logger } = deps;

  return ({ webhook, delivery, atMs, result }) => {
    const { number, attempts } = delivery;
    if ("status" in result && isSuccess(result.status)) {
      if (deliveries.finish(number, "delivered", { status: result.status }, atMs)) {
        webhooks.recordSuccess(webhook);
      }
      return 0;
    }
    const outcome = "status" in result ? { ...result, reason: `HTTP ${result.status}` } : result;
    const nextMs = isGone(result)
      ? undefined
      : nextAttemptAt({ ...result, attempts: attempts + 1, atMs }, random);
    const isCurrent =
      nextMs === undefined
        ? deliveries.finish(number, "failed", outcome, atMs)
        : deliveries.postpone(number, nextMs, outcome);
    // A definition that was replaced or deleted meanwhile says nothing about the present one.
    if (!isCurrent) return 0;
    logger.debug(
      { webhook, delivery: delivery.id, attempts: attempts + 1, ...outcome, nextMs },
      "delivery failed",
    );
    const { failures, failingSinceMs } = webhooks.recordFailure(webhook, atMs);
    if (isGone(result)) suspend(webhook, "the target answered 410 Gone", atMs);
    else if (atMs - failingSinceMs > deps.suspendAfterMs)
      suspend(webhook, "the target failed for too long", atMs);
    return probePauseMs(failures);
  };

  function suspend(webhook: number, reason: string, atMs: number): void {
    webhooks.suspend(webhook, reason);
    deliveries.cancel(webhook, reason, atMs);
    logger.info({ webhook, reason }, "webhook suspended until it is updated");
  }
}

const isSuccess = (status: number) => status >= 200 && status < 300;
const isGone = (result: Attempt["result"]) => "status" in result && result.status === 410;
