/** Badges for states of webhooks and deliveries. */
import type { DeliveryRecord, Webhook } from "@uniknode/client";
import { Badge, type Tone } from "../../components/badge.tsx";

export function StateBadge({ webhook: { enabled, suspended, failing, replay } }: { webhook: Webhook }) {
  if (suspended) return <Badge tone="bad">suspended</Badge>;
  if (!enabled) return <Badge tone="warning">paused</Badge>;
  if (failing) return <Badge tone="bad">failing</Badge>;
  return <Badge tone="good">{replay ? "active, replays" : "active"}</Badge>;
}

const TONES: Readonly<Record<DeliveryRecord["state"], Tone>> = {
  pending: "warning",
  delivered: "good",
  failed: "bad",
  cancelled: "plain",
};

export const DeliveryBadge = ({ state }: Pick<DeliveryRecord, "state">) => (
  <Badge tone={TONES[state]}>{state}</Badge>
);

export const eventsOf = ({ event, events = [] }: Webhook): string =>
  [...new Set([event, ...events])].join(", ");
