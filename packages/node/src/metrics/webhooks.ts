/** Metrics of the webhooks (webhooks.md section 10, point 13). */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { QueueFigures } from "../store/queue-figures.ts";
import type { Outcome, WebhookObserver } from "../webhooks/observer.ts";
import type { Figures } from "./metrics.ts";

export type WebhookMetrics = {
  /** To be told what happens. */
  readonly observer: Pick<WebhookObserver, "attempted" | "decided">;
  show(figures: Pick<Figures, "webhooks" | "fired" | "queues">, nowMs: number): void;
};

/** From a receiver next door to the longest time-out. */
const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const fired = new Counter({
    name: "uniknode_webhook_deliveries_fired_total",
    help: "Deliveries put into the queue of a webhook since it was registered.",
    labelNames: ["webhook"],
    registers,
  });
  const decided = new Counter({
    name: "uniknode_webhook_deliveries_total",
    help: "What attempts led to: delivered, retried (another attempt follows), dead (given up).",
    labelNames: ["webhook", "outcome"],
    registers,
  });
  const duration = new Histogram({
    name: "uniknode_webhook_attempt_duration_seconds",
    help: "Calls to targets, by the class of the answer.",
    labelNames: ["answer"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const length = new Gauge({
    name: "uniknode_webhook_queue_length",
    help: "Deliveries that wait: never tried, to be tried again, told again by a replay; none of disabled and suspended webhooks.",
    labelNames: ["webhook", "state"],
    registers,
  });
  const oldest = new Gauge({
    name: "uniknode_webhook_queue_oldest_age_seconds",
    help: "Age of the oldest delivery that waits, those of replays left out; 0 with an empty queue.",
    labelNames: ["webhook"],
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

  /** Webhooks that are shown. */
  let known: ReadonlySet<number> = new Set();

  function showRegistered(registered: ReadonlySet<number>): void {
    for (const webhook of known) {
      if (!registered.has(webhook)) for (const outcome of OUTCOMES) decided.remove({ webhook, outcome });
    }
    for (const webhook of registered) {
      // Before the first of them, so that it is seen as an increase.
      if (!known.has(webhook)) for (const outcome of OUTCOMES) decided.inc({ webhook, outcome }, 0);
    }
    known = registered;
  }

  return {
    observer: {
      attempted: ({ status, durationMs }) =>
        duration.observe({ answer: answerOf(status) }, durationMs / 1_000),
      decided: (webhook, outcome) => decided.inc({ webhook, outcome }),
    },
    show({ webhooks: figures, fired: firedBy, queues }, nowMs) {
      const ageOf = (ms: number | undefined) => (ms === undefined ? 0 : Math.max(0, nowMs - ms) / 1_000);
      webhooks.set({ state: "active" }, figures.active);
      webhooks.set({ state: "disabled" }, figures.disabled);
      webhooks.set({ state: "suspended" }, figures.suspended);
      unmatched.set(figures.unmatched);
      lag.set(ageOf(figures.unmatchedSinceMs));
      showRegistered(new Set(firedBy.keys()));
      for (const metric of [fired, length, oldest]) metric.reset();
      for (const [webhook, count] of firedBy) {
        const { waiting, retrying, replaying, oldestMs } = queues.get(webhook) ?? EMPTY;
        fired.inc({ webhook }, count);
        length.set({ webhook, state: "waiting" }, waiting);
        length.set({ webhook, state: "retrying" }, retrying);
        length.set({ webhook, state: "replaying" }, replaying);
        oldest.set({ webhook }, ageOf(oldestMs));
      }
    },
  };
}

const OUTCOMES: readonly Outcome[] = ["delivered", "retried", "dead"];

const EMPTY: QueueFigures = { waiting: 0, retrying: 0, replaying: 0 };

/** `2xx` to `5xx`, or that there was none. */
const answerOf = (status: number | undefined): string =>
  status === undefined ? "none" : `${Math.floor(status / 100)}xx`;
