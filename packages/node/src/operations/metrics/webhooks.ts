/** Metrics of the webhooks as a whole (webhooks.md 10 point 13). */
import { Gauge, Histogram, type Registry } from "prom-client";
import type { WebhookFigures } from "../../store/webhooks/webhook-figures.ts";
import type { WebhookObserver } from "../../webhooks/observer.ts";

export type WebhookMetrics = {
  /** To be told what happens. */
  readonly attempted: WebhookObserver["attempted"];
  show(figures: WebhookFigures, nowMs: number): void;
};

/** From a receiver next door to the longest time-out. */
const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const duration = new Histogram({
    name: "uniknode_webhook_attempt_duration_seconds",
    help: "Calls to targets, by the class of the answer.",
    labelNames: ["answer"],
    buckets: DURATION_BUCKETS,
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
    attempted: ({ status, durationMs }) => duration.observe({ answer: answerOf(status) }, durationMs / 1_000),
    show(figures, nowMs) {
      webhooks.set({ state: "active" }, figures.active);
      webhooks.set({ state: "disabled" }, figures.disabled);
      webhooks.set({ state: "suspended" }, figures.suspended);
      unmatched.set(figures.unmatched);
      const { unmatchedSinceMs } = figures;
      lag.set(unmatchedSinceMs === undefined ? 0 : Math.max(0, nowMs - unmatchedSinceMs) / 1_000);
    },
  };
}

/** `2xx` to `5xx`, or that there was none. */
const answerOf = (status: number | undefined): string =>
  status === undefined ? "none" : `${Math.floor(status / 100)}xx`;
