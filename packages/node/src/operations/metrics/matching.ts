/** Metrics of the evaluation of conditions: live streams, webhooks, replays and dry runs. */

import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import { Counter, type Registry } from "./instruments.ts";

export function createMatchingMetrics(registry: Registry): MatchingObserver {
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ["kind"], registers: [registry] });
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
