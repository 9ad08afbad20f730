/**
 * Puts deliveries into queues. Every delivery of an event gets its id, the next number of its webhook, and its content here.
 * Must be called inside the transaction that causes the delivery.
 */
import { isChainFact, isRetraction, retractionNameOf } from "../../events/catalogue.ts";
import type { Event } from "../../events/event.ts";
import type { Fit } from "../../subscriptions/content.ts";
import type { Intake } from "../intake.ts";
import type { DeliveredFact } from "../model/deliveries.ts";
import { deliveryId, retractionId } from "./identity.ts";

/** An event that matches the subscription of a webhook. */
export type MatchedEvent = {
  readonly webhook: number;
  /** Name of the event in the subscription. */
  readonly name: string;
  readonly event: Event;
  /** Content of the event, shared with its deliveries to other webhooks. */
  readonly content: Shared;
  /** Sequence of the event in the log. */
  readonly logSequence: number;
};

/** Writes a content at the first use and returns its number. Valid in one transaction only. */
export type Shared = () => number;

export type Outbox = {
  /** Shares the content of an event; `dataText` returns its JSON, or undefined for events without content. */
  share(event: string, dataText: () => string | undefined): Shared;
  /**
   * Puts a delivery into the queue, or at the position `replay` of the replay lane. Returns `false` if the webhook already
   * has the delivery.
   */
  put(matched: MatchedEvent, replay?: number): boolean;
  /** Puts the retraction of a delivery into the queue; returns `false` if the webhook already has it. */
  retract(fact: DeliveredFact): boolean;
  /** Returns the id of the delivery of an event that is not a retraction, whether or not the webhook has the delivery. */
  idOf(event: Event, webhook: number, logSequence: number): string;
  /** Returns the id of the delivery that an event retracts, whether or not the webhook has the delivery. */
  retractedBy(event: Event, webhook: number, logSequence: number): string | undefined;
};

export type OutboxDeps = {
  /** The nethash. */
  network: string;
  intake: Pick<Intake, "deliveries" | "contents" | "blockReverts">;
  fit: Fit;
  nowMs: () => number;
};

export function createOutbox(deps: OutboxDeps): Outbox {
  return {
    share: (event, dataText) => share(deps, event, dataText),
    put: (matched, replay) => put(deps, matched, replay),
    retract: (fact) => retract(deps, fact),
    idOf: (event, webhook, logSequence) => idOf(deps, event, webhook, logSequence),
    retractedBy: (event, webhook, logSequence) => retractedBy(deps, event, webhook, logSequence),
  };
}

function share({ intake, fit }: OutboxDeps, event: string, dataText: () => string | undefined): Shared {
  let number: number | undefined;
  return () => {
    number ??= intake.contents.insert(fit(event, dataText()));
    return number;
  };
}

function put(deps: OutboxDeps, matched: MatchedEvent, replay: number | undefined): boolean {
  const { webhook, name, event, content, logSequence } = matched;
  const { height, blockId } = event;
  const retracted = retractedBy(deps, event, webhook, logSequence);
  return enqueue(deps, {
    webhook,
    name,
    content,
    ...heightOf(height),
    ...(blockId !== undefined && { blockId }),
    ...(retracted === undefined
      ? { id: idOf(deps, event, webhook, logSequence) }
      : { id: retractionId(deps.network, webhook, event.name, retracted) }),
    // The wallet after a revert is delivered in addition to the retraction of its former state.
    ...(retracted !== undefined &&
      isRetraction(event.name) &&
      deps.intake.deliveries.has(webhook, retracted) && { reverts: retracted }),
    isRetractable: retracted === undefined && blockId !== undefined && isChainFact(event.name),
    replay,
  });
}

function retract(deps: OutboxDeps, fact: DeliveredFact): boolean {
  const { webhook, id: reverts, event, height, blockId, content } = fact;
  const name = retractionNameOf(event);
  return enqueue(deps, {
    webhook,
    name,
    content: () => content,
    id: retractionId(deps.network, webhook, name, reverts),
    height,
    blockId,
    reverts,
    isRetractable: false,
  });
}

type Draft = Pick<MatchedEvent, "webhook" | "name" | "content"> & {
  readonly id: string;
  readonly height?: number;
  readonly blockId?: string;
  /** Id of the retracted delivery. */
  readonly reverts?: string;
  /** True if the delivery has a fact that must be retracted when its block is reverted. */
  readonly isRetractable: boolean;
  readonly replay?: number | undefined;
};

function enqueue({ intake, nowMs }: OutboxDeps, draft: Draft): boolean {
  const { deliveries } = intake;
  const { webhook, name, content, id, height, blockId, reverts, isRetractable, replay } = draft;
  // Checked before taking a number, because numbers have no gaps.
  if (deliveries.has(webhook, id)) return false;
  deliveries.insert(
    {
      webhook,
      id,
      sequence: deliveries.nextSequence(webhook),
      event: name,
      ...heightOf(height),
      ...(blockId !== undefined && { blockId }),
      ...(reverts !== undefined && { reverts }),
      content: content(),
      isRetractable,
      ...(replay !== undefined && { replay }),
    },
    nowMs(),
  );
  return true;
}

function idOf({ network, intake }: OutboxDeps, event: Event, webhook: number, logSequence: number): string {
  const { id, name, height, blockId } = event;
  const isFact = blockId !== undefined && isChainFact(name);
  const occurrence = isFact
    ? { ...heightOf(height), timesReverted: intake.blockReverts.count(blockId, logSequence) }
    : { logSequence };
  return deliveryId(network, webhook, { id, ...occurrence });
}

function retractedBy(
  { network, intake }: OutboxDeps,
  { reverts, name, height, blockId }: Event,
  webhook: number,
  logSequence: number,
): string | undefined {
  if (reverts === undefined) return undefined;
  const times = blockId === undefined ? 0 : intake.blockReverts.count(blockId, logSequence);
  // Other events follow the revert of their block, which is already counted.
  const timesReverted = isRetraction(name) ? times : times - 1;
  return deliveryId(network, webhook, { id: reverts, ...heightOf(height), timesReverted });
}

const heightOf = (height: number | undefined) => (height === undefined ? {} : { height });
