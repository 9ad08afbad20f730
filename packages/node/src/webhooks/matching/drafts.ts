/** Drafts of deliveries: the id of each delivery of an event, and what it retracts. */
import { isChainFact, isRetraction, retractionNameOf } from "../../events/catalogue.ts";
import type { Event, LoggedEvent } from "../../events/event.ts";
import type { DeliveryDraft } from "../intake.ts";
import type { DeliveredFact, TimedContent } from "../model/deliveries.ts";
import { deliveryId, retractionId } from "./identity.ts";

/** An event in the order of the log, with the reverts before it. */
export type OrderedEvent = {
  /** `createdMs` is absent for facts that do not come from the log. */
  readonly event: Event & Partial<Pick<LoggedEvent, "createdMs">>;
  /** Sequence of the event in the log. */
  readonly logSequence: number;
  /** Number of reverts of the event's block before the event. */
  readonly timesReverted: number;
};

/** An event that matches the subscription of a webhook. */
export type MatchedEvent = OrderedEvent & {
  readonly webhook: number;
  /** Name of the event in the subscription. */
  readonly name: string;
};

/** @param network the nethash */
export function draftDelivery(
  network: string,
  { webhook, name, ...ordered }: MatchedEvent,
  content: TimedContent,
): DeliveryDraft {
  const { event } = ordered;
  const { height, blockId } = event;
  const retracted = retractedId(network, webhook, ordered);
  const source = { ...heightOf(height), ...(blockId !== undefined && { blockId }) };
  if (retracted === undefined) {
    const id = idOf(network, webhook, ordered);
    const isRetractable = blockId !== undefined && isChainFact(event.name);
    return { webhook, id, event: name, ...source, isRetractable, content };
  }
  return {
    webhook,
    id: retractionId(network, webhook, event.name, retracted),
    event: name,
    ...source,
    // The wallet after a revert is delivered in addition to the retraction of its former state.
    ...(isRetraction(event.name) && { reverts: retracted }),
    content,
  };
}

/** Drafts the retraction of a delivered fact. */
export function draftRetraction(network: string, fact: DeliveredFact): DeliveryDraft {
  const { webhook, id: reverts, height, blockId, content } = fact;
  const event = retractionNameOf(fact.event);
  return {
    webhook,
    id: retractionId(network, webhook, event, reverts),
    event,
    height,
    blockId,
    reverts,
    content,
  };
}

/** Returns the id of the delivery that an event retracts, whether or not the webhook has the delivery. */
export function retractedId(
  network: string,
  webhook: number,
  { event: { reverts, name, height, blockId }, timesReverted }: OrderedEvent,
): string | undefined {
  if (reverts === undefined) return undefined;
  const times = blockId === undefined ? 0 : timesReverted;
  // Other events follow the revert of their block, which is already counted.
  return deliveryId(network, webhook, {
    id: reverts,
    ...heightOf(height),
    timesReverted: isRetraction(name) ? times : times - 1,
  });
}

function idOf(network: string, webhook: number, { event, logSequence, timesReverted }: OrderedEvent): string {
  const { id, name, height, blockId, createdMs } = event;
  const isFact = blockId !== undefined && isChainFact(name);
  const occurrence = isFact ? { ...heightOf(height), timesReverted } : { logSequence, createdMs };
  return deliveryId(network, webhook, { id, ...occurrence });
}

const heightOf = (height: number | undefined) => (height === undefined ? {} : { height });
