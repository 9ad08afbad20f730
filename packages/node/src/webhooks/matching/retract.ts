/**
 * Retracts the delivered facts of a reverted block, latest first, each by its own event that names the retracted
 * delivery.
 */
import type { LoggedEvent } from "../../events/event.ts";
import type { DeliveredFacts } from "../intake.ts";
import type { Outbox } from "./outbox.ts";

/** Returns the webhooks whose queues have changed, and whether there are more retractions than the limit. */
export type Retract = (event: LoggedEvent, limit: number) => { webhooks: number[]; more: boolean };

export type RetractDeps = { facts: DeliveredFacts; outbox: Outbox; nowMs: () => number };

/** Idempotent: a second call for the same block does nothing. */
export function createRetract({ facts, outbox, nowMs }: RetractDeps): Retract {
  return ({ height, blockId }, limit) => {
    if (height === undefined || blockId === undefined) return { webhooks: [], more: false };
    const deliveries = facts.unretracted(height, blockId, limit);
    for (const delivery of deliveries) {
      facts.retract(delivery.number, nowMs());
      if (delivery.hasSameTarget) outbox.retract(delivery);
    }
    return { webhooks: deliveries.map(({ webhook }) => webhook), more: deliveries.length === limit };
  };
}
