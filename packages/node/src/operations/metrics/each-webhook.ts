/**
 * Metrics of each single webhook. A thousand webhooks have eight thousand lines: they are written directly, because the
 * library formats each line separately and would block the delivering thread for more than 15 ms.
 */

import type { Decision } from "../../webhooks/collaborators.ts";
import type { QueueFigures } from "../../webhooks/figures.ts";

/** Figures by the id of the webhook. */
export type FiguresByWebhook = {
  /** Deliveries created; has every registered webhook. */
  readonly fired: ReadonlyMap<number, number>;
  /** Empty queues may be absent. */
  readonly queues: ReadonlyMap<number, QueueFigures>;
};

export type EachWebhook = {
  decided(webhook: number, decision: Decision): void;
  /** Returns the metrics in the text format of Prometheus, with a line feed at the end. */
  text(figures: FiguresByWebhook, nowMs: number): string;
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

export function createEachWebhook(): EachWebhook {
  const decisions = new Map<number, Readonly<Record<Decision, number>>>();
  /** Webhooks of the previous scrape. */
  let known: ReadonlyMap<number, number> = new Map();

  /**
   * Removes only webhooks that the previous scrape had: a webhook registered after these figures were read
   * stays.
   */
  function forgetRemoved(registered: ReadonlyMap<number, number>): void {
    for (const webhook of known.keys()) if (!registered.has(webhook)) decisions.delete(webhook);
    known = registered;
  }

  return {
    decided(webhook, decision) {
      const before = decisions.get(webhook) ?? NONE;
      decisions.set(webhook, { ...before, [decision]: before[decision] + 1 });
    },
    text({ fired, queues }, nowMs) {
      forgetRemoved(fired);
      const texts = [FIRED.head, DECIDED.head, LENGTH.head, OLDEST.head] as [string, string, string, string];
      for (const [webhook, count] of fired) {
        const label = `{webhook="${webhook}"`;
        const decided = decisions.get(webhook) ?? NONE;
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
    },
  };
}

function family(name: string, type: "counter" | "gauge", help: string) {
  return { name, head: `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n` };
}
