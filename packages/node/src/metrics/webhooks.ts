/** Metrics of the webhooks (webhooks.md section 10, point 13). */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { QueueFigures } from "../store/queue-figures.ts";
import type { WebhookFigures } from "../store/webhook-figures.ts";
import type { WebhookObserver } from "../webhooks/observer.ts";
import { showTotal } from "./total.ts";

export type WebhookMetrics = {
  /** To be told what happens. */
  readonly observer: Pick<WebhookObserver, "attempted" | "decided">;
  show(figures: WebhookFigures, queues: QueueFigures, nowMs: number): void;
};

/** From a receiver next door to the longest time-out. */
const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const fired = new Counter({
    name: "uniknode_webhook_deliveries_fired_total",
    help: "Deliveries put into queues since the data folder was made, pings among them.",
    registers,
  });
  const decided = new Counter({
    name: "uniknode_webhook_deliveries_total",
    help: "What attempts led to: delivered, retried (another attempt follows), dead (given up).",
    labelNames: ["outcome"],
    registers,
  });
  // From the start, so that the first of each is seen as an increase.
  for (const outcome of ["delivered", "retried", "dead"]) decided.inc({ outcome }, 0);
  const duration = new Histogram({
    name: "uniknode_webhook_attempt_duration_seconds",
    help: "Calls to targets, by the class of the answer.",
    labelNames: ["answer"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const length = new Gauge({
    name: "uniknode_webhook_queue_length",
    help: "Deliveries that wait: never tried, to be tried again, told again by a replay; disabled and suspended webhooks are left out.",
    labelNames: ["state"],
    registers,
  });
  const oldest = new Gauge({
    name: "uniknode_webhook_queue_oldest_age_seconds",
    help: "Age of the oldest delivery that waits, those of replays left out; 0 with an empty queue.",
    registers,
  });
  const webhooks = new Gauge({
    name: "uniknode_webhooks",
    help: "Registered webhooks: active, disabled, suspended.",
    labelNames: ["state"],
    registers,
  });
  const unmatched = new Gauge({
    name: "uniknode_webhook_matcher_lag_events",
    help: "Events that no webhook was asked about yet.",
    registers,
  });
  const lag = new Gauge({
    name: "uniknode_webhook_matcher_lag_seconds",
    help: "Age of the oldest of them; 0 if there are none.",
    registers,
  });

  return {
    observer: {
      attempted: ({ status, durationMs }) =>
        duration.observe({ answer: answerOf(status) }, durationMs / 1_000),
      decided: (outcome) => decided.inc({ outcome }),
    },
    show(figures, queues, nowMs) {
      const ageOf = (ms: number | undefined) => (ms === undefined ? 0 : Math.max(0, nowMs - ms) / 1_000);
      showTotal(fired, figures.fired);
      webhooks.set({ state: "active" }, figures.active);
      webhooks.set({ state: "disabled" }, figures.disabled);
      webhooks.set({ state: "suspended" }, figures.suspended);
      unmatched.set(figures.unmatched);
      lag.set(ageOf(figures.unmatchedSinceMs));
      length.set({ state: "waiting" }, queues.waiting);
      length.set({ state: "retrying" }, queues.retrying);
      length.set({ state: "replaying" }, queues.replaying);
      oldest.set(ageOf(queues.oldestMs));
    },
  };
}

/** `2xx` to `5xx`, or that there was none. */
const answerOf = (status: number | undefined): string =>
  status === undefined ? "none" : `${Math.floor(status / 100)}xx`;
