/**
 * The way into a queue. Every delivery of an event passes here: it gets its id, the next number of its webhook, and the
 * text that is sent. To be called inside the transaction that makes the delivery necessary.
 */
import { isChainFact } from "../../events/catalogue.ts";
import type { Event } from "../../events/event.ts";
import type { DeliveryStore } from "../../store/deliveries.ts";
import type { ReversalStore } from "../../store/reversals.ts";
import type { WebhookStore } from "../../store/webhooks.ts";
import { bodyOf } from "../delivery/message.ts";
import { deliveryId } from "./identity.ts";

/** An event that a webhook is to hear of. */
export type News = {
  readonly webhook: number;
  /** As the webhook calls it. */
  readonly name: string;
  readonly event: Event;
  /** JSON of the event's content, made once for all webhooks. */
  readonly dataText: string | undefined;
  /** Place in the event log at which the event is told. */
  readonly logSequence: number;
};

export type Outbox = {
  /** Puts a delivery into the queue. `false` when the webhook has it already. */
  put(news: News): boolean;
};

export type OutboxDeps = {
  /** The nethash. */
  network: string;
  webhooks: Pick<WebhookStore, "nextSequence">;
  deliveries: Pick<DeliveryStore, "has" | "insert">;
  reversals: Pick<ReversalStore, "count">;
  nowMs: () => number;
};

export function createOutbox({ network, webhooks, deliveries, reversals, nowMs }: OutboxDeps): Outbox {
  const occurrenceOf = ({ name, blockId }: Event, logSequence: number) =>
    blockId !== undefined && isChainFact(name)
      ? { timesReverted: reversals.count(blockId, logSequence) }
      : { logSequence };

  return {
    put({ webhook, name, event, dataText, logSequence }) {
      const { height, blockId } = event;
      const id = deliveryId(network, webhook, { id: event.id, ...occurrenceOf(event, logSequence) });
      // Before the number is taken: numbers have no gaps.
      if (deliveries.has(webhook, id)) return false;
      const atMs = nowMs();
      const sequence = webhooks.nextSequence(webhook);
      const source = {
        ...(height !== undefined && { height }),
        ...(blockId !== undefined && { blockId }),
      };
      const body = bodyOf(
        { timestamp: atMs, event: name, id, webhookId: webhook, sequence, ...source },
        dataText,
      );
      deliveries.insert({ webhook, id, sequence, event: name, ...source, body }, atMs);
      return true;
    },
  };
}
