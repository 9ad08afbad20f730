/** States of webhooks and deliveries: badges, and what is wrong. */
import { useComputed } from "@preact/signals";
import type { DeliveryAttempt, DeliveryRecord, Webhook } from "@uniknode/client";
import type { ComponentChildren } from "preact";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Time } from "../../components/time.tsx";
import { useNode } from "../../data/node.ts";
import { causeOf } from "./cause.ts";

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

/** Returns the reason of a failed attempt, as `causeOf` expects it. */
export function failureOf({ status, error }: DeliveryAttempt): string | undefined {
  if (status === undefined) return error;
  return status >= 200 && status < 300 ? undefined : `HTTP ${status}`;
}

export const eventsOf = ({ event, events = [] }: Webhook): string =>
  [...new Set([event, ...events])].join(", ");

/** Time of the next attempt; a retry that is due can wait for a place, or for a probe of its target. */
export function NextAttempt({ atMs }: { atMs: number }) {
  const { nowMs, clockOffsetMs } = useNode();
  const isDue = useComputed(() => atMs <= nowMs.value - clockOffsetMs.value);
  return isDue.value ? "is due" : <Time timeMs={atMs} clock="machine" />;
}

type TroubleProps = {
  /** Reason of the last failure. */
  readonly reason: string;
  /** Absent for a delivery, whose attempts may have had other targets. */
  readonly target?: string;
  readonly children: ComponentChildren;
};

/** Explains a failure, and offers what to do. */
export function Trouble({ reason, target, children }: TroubleProps) {
  const { text, advice } = causeOf(reason, target);
  return (
    <section class="card trouble" aria-label="What is wrong">
      <p class="sentence">{text}</p>
      {advice !== undefined && <p>{advice}</p>}
      {children}
    </section>
  );
}
