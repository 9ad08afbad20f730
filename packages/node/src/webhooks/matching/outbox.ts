/**
 * Puts deliveries into queues. Every delivery of an event gets its id, the next number of its webhook, and its content here.
 * Must be called inside the transaction that causes the delivery.
 */
import { isChainFact, isRetraction, retractionNameOf } from "../../events/catalogue.ts";
import type { Event } from "../../events/event.ts";
import type { Fit } from "../../subscriptions/content.ts";
import type { DeliveredFact } from "../deliveries.ts";
import type { Intake } from "../intake.ts";
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

export function createOutbox(deps: OutboxDeps): Outbox {
  const { network, fit, nowMs } = deps;
  const { deliveries, contents, blockReverts } = deps.intake;

  function retractedBy({ reverts, name, height, blockId }: Event, webhook: number, logSequence: number) {
    if (reverts === undefined) return undefined;
    const times = blockReverts.count(blockId!, logSequence);
    // Other events follow the revert of their block, which is already counted.
    const timesReverted = isRetraction(name) ? times : times - 1;
    return deliveryId(network, webhook, { id: reverts, ...heightOf(height), timesReverted });
  }

  function idOf({ id, name, height, blockId }: Event, webhook: number, logSequence: number): string {
    const isFact = blockId !== undefined && isChainFact(name);
    const occurrence = isFact
      ? { ...heightOf(height), timesReverted: blockReverts.count(blockId, logSequence) }
      : { logSequence };
    return deliveryId(network, webhook, { id, ...occurrence });
  }

  function enqueue({
    webhook,
    name,
    content,
    id,
    height,
    blockId,
    reverts,
    isRetractable,
    replay,
  }: Draft): boolean {
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

  return {
    share(event, dataText) {
      let number: number | undefined;
      return () => {
        number ??= contents.insert(fit(event, dataText()));
        return number;
      };
    },
    put({ webhook, name, event, content, logSequence }, replay) {
      const { height, blockId } = event;
      const retracted = retractedBy(event, webhook, logSequence);
      return enqueue({
        webhook,
        name,
        content,
        ...heightOf(height),
        ...(blockId !== undefined && { blockId }),
        ...(retracted === undefined
          ? { id: idOf(event, webhook, logSequence) }
          : { id: retractionId(network, webhook, event.name, retracted) }),
        // The wallet after a revert is delivered in addition to the retraction of its former state.
        ...(retracted !== undefined &&
          isRetraction(event.name) &&
          deliveries.has(webhook, retracted) && { reverts: retracted }),
        isRetractable: retracted === undefined && blockId !== undefined && isChainFact(event.name),
        replay,
      });
    },
    retract({ webhook, id: reverts, event, height, blockId, content }) {
      const name = retractionNameOf(event);
      const id = retractionId(network, webhook, name, reverts);
      return enqueue({
        webhook,
        name,
        content: () => content,
        id,
        height,
        blockId,
        reverts,
        isRetractable: false,
      });
    },
    idOf,
    retractedBy,
  };
}

const heightOf = (height: number | undefined) => (height === undefined ? {} : { height });
