/**
 * Drafts of deliveries: the id of each delivery of an event, and what it retracts. An id depends only on the event and the webhook,
 * so that a delivery has the same id on every attempt, after every restart, and in a replay years later: receivers use it to ignore
 * duplicates.
 */
import { hash } from "node:crypto";
import {
  type Event,
  isChainFact,
  isRetraction,
  type LoggedEvent,
  retractionNameOf,
} from "../../events/catalogue.ts";
import type { DeliveryDraft } from "../intake.ts";
import type { DeliveredFact, TimedContent } from "../model/deliveries.ts";

type EventIdentity = {
  readonly id: string;
  /** Height of the block, for events of blocks. */
  readonly height?: number;
  /**
   * Number of reverts of the block before this event, for events of blocks. A block that is applied again after a
   * reorganisation is delivered again to subscribers that received its retraction.
   */
  readonly timesReverted?: number;
  /**
   * Sequence in the event log, for all other events, because they may repeat, and the time at which they were logged, because
   * an older copy of the log uses sequences again.
   */
  readonly logSequence?: number;
  readonly createdMs?: number | undefined;
};

/** `network` is the nethash. */
export const deliveryId = (
  network: string,
  webhook: number,
  { id, height, timesReverted, logSequence, createdMs }: EventIdentity,
): string =>
  messageId(
    positionText(height ?? logSequence ?? 0),
    network,
    webhook,
    id,
    timesReverted === undefined ? `log ${logSequence} ${createdMs}` : `chain ${timesReverted}`,
  );

/** Returns the id of the delivery by which an event with this name retracts another delivery. */
export const retractionId = (network: string, webhook: number, name: string, retracted: string): string =>
  messageId(
    retracted.slice(PREFIX.length, PREFIX.length + POSITION_DIGITS),
    network,
    webhook,
    name,
    `reverts ${retracted}`,
  );

const PREFIX = "msg_";
const POSITION_DIGITS = 8;

/** Encodes the position of the event, with which ids begin: deliveries of one time are adjacent in the index. */
const positionText = (position: number): string =>
  position.toString(16).padStart(POSITION_DIGITS, "0").slice(-POSITION_DIGITS);

const messageId = (position: string, ...parts: readonly (string | number)[]): string =>
  `${PREFIX}${position}${hash("sha256", parts.join("\n")).slice(0, 32 - POSITION_DIGITS)}`;

/** An event in the order of the log, with the reverts before it. */
export type OrderedEvent = {
  /** `createdMs` is absent for facts that do not come from the log. */
  readonly event: Event & Partial<Pick<LoggedEvent, "createdMs">>;
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
