/**
 * A block was undone: every fact of it that a webhook was told is taken back, the latest first, each by an event of its
 * own that names the delivery it takes back.
 */
import type { LoggedEvent } from "../../events/event.ts";
import type { ToldStore } from "../../store/webhooks/delivered-facts.ts";
import type { Outbox } from "./outbox.ts";

/** Answers the webhooks whose queues have changed, and whether there is more to take back than the limit. */
export type TakeBack = (event: LoggedEvent, limit: number) => { webhooks: number[]; more: boolean };

export type TakeBackDeps = { told: ToldStore; outbox: Outbox; nowMs: () => number };

/** Called again for the same block, it finds nothing left to do. */
export function createTakeBack({ told, outbox, nowMs }: TakeBackDeps): TakeBack {
  return ({ height, blockId }, limit) => {
    const deliveries = told.standing(height!, blockId!, limit);
    for (const delivery of deliveries) {
      told.retract(delivery.number, nowMs());
      if (delivery.isHeard) outbox.takeBack(delivery);
    }
    return { webhooks: deliveries.map(({ webhook }) => webhook), more: deliveries.length === limit };
  };
}
