/** Metrics of the webhooks: as a whole (webhooks.md 10 point 13), of each single one, and of the evaluation of conditions. */
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { Attempted, Decision } from "../../webhooks/collaborators.ts";
import type { QueueFigures, WebhookFigures } from "../../webhooks/figures.ts";
import { type Gauge, Histogram, instrumentsOf, type Registry } from "./instruments.ts";

/** Buckets from the fastest local receiver to the default timeout. */
const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class WebhookMetrics {
  readonly #duration: Histogram<"status">;
  readonly #webhooks: Gauge<"state">;
  readonly #unmatched: Gauge;
  readonly #lag: Gauge;
  readonly #connections: Gauge;

  constructor(registry: Registry) {
    const { gauge } = instrumentsOf(registry);
    this.#duration = new Histogram({
      name: "uniknode_webhook_attempt_duration_seconds",
      help: "Duration of calls to targets, by class of the response status; ack: acknowledged by a NATS server.",
      labelNames: ["status"],
      buckets: DURATION_BUCKETS,
      registers: [registry],
    });
    this.#webhooks = gauge("uniknode_webhooks", "Registered webhooks: active, disabled, suspended.", "state");
    this.#unmatched = gauge(
      "uniknode_webhook_matcher_lag_events",
      "Events not yet matched with the webhooks.",
    );
    this.#lag = gauge(
      "uniknode_webhook_matcher_lag_seconds",
      "Age of the oldest event not yet matched with the webhooks; 0 if there is none.",
    );
    this.#connections = gauge(
      "uniknode_webhook_nats_connections",
      "Open connections to the NATS servers of targets.",
    );
  }

  /** Called after each attempt of a delivery. */
  attempted(attempted: Attempted): void {
    this.#duration.observe({ status: statusClassOf(attempted) }, attempted.durationMs / 1_000);
  }

  show(figures: WebhookFigures, natsConnections: number, nowMs: number): void {
    const { active, disabled, suspended, unmatched, unmatchedSinceMs } = figures;
    this.#connections.set(natsConnections);
    this.#webhooks.set({ state: "active" }, active);
    this.#webhooks.set({ state: "disabled" }, disabled);
    this.#webhooks.set({ state: "suspended" }, suspended);
    this.#unmatched.set(unmatched);
    this.#lag.set(unmatchedSinceMs === undefined ? 0 : Math.max(0, nowMs - unmatchedSinceMs) / 1_000);
  }
}

/** Returns `2xx` to `5xx`, `ack` for a success without a status, or `none` if there was no response. */
function statusClassOf({ status, reason }: Attempted): string {
  if (status !== undefined) return `${Math.floor(status / 100)}xx`;
  return reason === undefined ? "ack" : "none";
}

/** Creates the metrics of the evaluation of conditions: live streams, webhooks, replays and dry runs. */
export function createMatchingMetrics(registry: Registry): MatchingObserver {
  const counter = (name: string, help: string) => instrumentsOf(registry).counter(name, help, "kind");
  const seconds = counter(
    "uniknode_matching_seconds_total",
    "Time spent on evaluating conditions of live streams, webhooks, replays and dry runs.",
  );
  const slowed = counter(
    "uniknode_matching_slowed_total",
    "Subscribers deprioritised because of the cost of their conditions.",
  );
  const suspended = counter(
    "uniknode_matching_suspended_total",
    "Streams closed and webhooks suspended because of the cost of their conditions.",
  );
  return {
    spent: (kind, ms) => seconds.inc({ kind }, ms / 1_000),
    slowed: (kind) => slowed.inc({ kind }),
    suspended: (kind) => suspended.inc({ kind }),
  };
}

/** Figures by the id of the webhook. */
export type FiguresByWebhook = {
  /** Deliveries created; has every registered webhook. */
  readonly fired: ReadonlyMap<number, number>;
  /** Empty queues may be absent. */
  readonly queues: ReadonlyMap<number, QueueFigures>;
};

const DECISIONS: readonly Decision[] = ["delivered", "retried", "failed"];
const NONE: Readonly<Record<Decision, number>> = { delivered: 0, retried: 0, failed: 0 };
const EMPTY: QueueFigures = { waiting: 0, retrying: 0, replaying: 0 };

const FIRED = family(
  "uniknode_webhook_deliveries_fired_total",
  "counter",
  "Deliveries queued for a webhook since it was registered.",
);
const DECIDED = family(
  "uniknode_webhook_deliveries_total",
  "counter",
  "Outcomes of attempts: delivered, retried (another attempt follows), failed (no further attempt).",
);
const LENGTH = family(
  "uniknode_webhook_queue_length",
  "gauge",
  "Queued deliveries: waiting (first attempt), retrying, replaying (created by a replay); 0 for disabled and suspended webhooks.",
);
const OLDEST = family(
  "uniknode_webhook_queue_oldest_age_seconds",
  "gauge",
  "Age of the oldest queued delivery, excluding replays; 0 for an empty queue.",
);

/**
 * Metrics of single webhooks. A thousand webhooks have eight thousand lines: they are written directly, because the
 * library formats each line separately and would block the delivering thread for more than 15 ms.
 */
export class EachWebhook {
  readonly #decisions = new Map<number, Readonly<Record<Decision, number>>>();
  /** Webhooks of the previous scrape. */
  #known: ReadonlyMap<number, number> = new Map();

  decided(webhook: number, decision: Decision): void {
    const before = this.#decisions.get(webhook) ?? NONE;
    this.#decisions.set(webhook, { ...before, [decision]: before[decision] + 1 });
  }

  /** Returns the metrics in the text format of Prometheus, with a line feed at the end. */
  text({ fired, queues }: FiguresByWebhook, nowMs: number): string {
    this.#forgetRemoved(fired);
    const texts = [FIRED.head, DECIDED.head, LENGTH.head, OLDEST.head] as [string, string, string, string];
    for (const [webhook, count] of fired) {
      const label = `{webhook="${webhook}"`;
      const decided = this.#decisions.get(webhook) ?? NONE;
      const { waiting, retrying, replaying, oldestMs } = queues.get(webhook) ?? EMPTY;
      const ageSeconds = oldestMs === undefined ? 0 : Math.max(0, nowMs - oldestMs) / 1_000;
      texts[0] += `${FIRED.name}${label}} ${count}\n`;
      for (const decision of DECISIONS)
        texts[1] += `${DECIDED.name}${label},outcome="${decision}"} ${decided[decision]}\n`;
      texts[2] += `${LENGTH.name}${label},state="waiting"} ${waiting}\n`;
      texts[2] += `${LENGTH.name}${label},state="retrying"} ${retrying}\n`;
      texts[2] += `${LENGTH.name}${label},state="replaying"} ${replaying}\n`;
      texts[3] += `${OLDEST.name}${label}} ${ageSeconds}\n`;
    }
    return texts.join("\n");
  }

  /**
   * Removes only webhooks that the previous scrape had: a webhook registered after these figures were read
   * stays.
   */
  #forgetRemoved(registered: ReadonlyMap<number, number>): void {
    for (const webhook of this.#known.keys()) if (!registered.has(webhook)) this.#decisions.delete(webhook);
    this.#known = registered;
  }
}

function family(name: string, type: "counter" | "gauge", help: string) {
  return { name, head: `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n` };
}
