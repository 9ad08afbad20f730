/** Metrics of the webhooks as a whole (webhooks.md 10 point 13). */

import type { Attempted, WebhookObserver } from "../../webhooks/collaborators.ts";
import type { WebhookFigures } from "../../webhooks/figures.ts";
import { Gauge, Histogram, type Registry } from "./instruments.ts";

export type WebhookMetrics = {
  /** Called after each attempt of a delivery. */
  readonly attempted: WebhookObserver["attempted"];
  show(figures: WebhookFigures, natsConnections: number, nowMs: number): void;
};

/** Buckets from the fastest local receiver to the default timeout. */
const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const duration = new Histogram({
    name: "uniknode_webhook_attempt_duration_seconds",
    help: "Duration of calls to targets, by class of the response status; ack: acknowledged by a NATS server.",
    labelNames: ["status"],
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
    help: "Events not yet matched with the webhooks.",
    registers,
  });
  const lag = new Gauge({
    name: "uniknode_webhook_matcher_lag_seconds",
    help: "Age of the oldest event not yet matched with the webhooks; 0 if there is none.",
    registers,
  });
  const connections = new Gauge({
    name: "uniknode_webhook_nats_connections",
    help: "Open connections to the NATS servers of targets.",
    registers,
  });

  return {
    attempted: (attempted) =>
      duration.observe({ status: statusClassOf(attempted) }, attempted.durationMs / 1_000),
    show(figures, natsConnections, nowMs) {
      connections.set(natsConnections);
      webhooks.set({ state: "active" }, figures.active);
      webhooks.set({ state: "disabled" }, figures.disabled);
      webhooks.set({ state: "suspended" }, figures.suspended);
      unmatched.set(figures.unmatched);
      const { unmatchedSinceMs } = figures;
      lag.set(unmatchedSinceMs === undefined ? 0 : Math.max(0, nowMs - unmatchedSinceMs) / 1_000);
    },
  };
}

/** Returns `2xx` to `5xx`, `ack` for a success without a status, or `none` if there was no response. */
function statusClassOf({ status, reason }: Attempted): string {
  if (status !== undefined) return `${Math.floor(status / 100)}xx`;
  return reason === undefined ? "ack" : "none";
}
