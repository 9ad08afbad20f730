/**
 * The way into a queue. Every delivery of an event passes here: it gets its id, the next number of its webhook, and the
 * text that is sent. To be called inside the transaction that makes the delivery necessary.
 */
import { isChainFact, isRetraction, retractionNameOf } from "../../events/catalogue.ts";
import type { Event } from "../../events/event.ts";
import type { ContentStore } from "../../store/webhooks/contents.ts";
import type { Told } from "../../store/webhooks/delivered-facts.ts";
import type { DeliveryStore } from "../../store/webhooks/deliveries.ts";
import type { ReversalStore } from "../../store/webhooks/retractions.ts";
import type { WebhookStore } from "../../store/webhooks/webhooks.ts";
import type { Fit } from "../../subscriptions/content.ts";
import { deliveryId, reversalId } from "./identity.ts";

/** An event that a webhook is to hear of. */
export type News = {
  readonly webhook: number;
  /** As the webhook calls it. */
  readonly name: string;
  readonly event: Event;
  /** What the event tells, shared with the news of it for other webhooks. */
  readonly content: Shared;
  /** Place in the event log at which the event happened. */
  readonly logSequence: number;
};

/** Writes a content when the first delivery needs it; answers its number. For one transaction only. */
export type Shared = () => number;

export type Outbox = {
  /** The content of an event of that name; `dataText` makes the JSON of it, or nothing if it has none. */
  share(event: string, dataText: () => string | undefined): Shared;
  /**
   * Puts a delivery into the queue, or into that of what is told again, at a place. `false` when the webhook has it
   * already.
   */
  put(news: News, replay?: number): boolean;
  /** Puts the delivery into the queue that takes back another one. `false` as above. */
  takeBack(told: Told): boolean;
  /** Id of the delivery of an event that takes back nothing, whether the webhook has it or not. */
  idOf(event: Event, webhook: number, logSequence: number): string;
  /** Id of the delivery that an event takes back, whether the webhook has it or not. */
  takenBackBy(event: Event, webhook: number, logSequence: number): string | undefined;
};

export type OutboxDeps = {
  /** The nethash. */
  network: string;
  webhooks: Pick<WebhookStore, "nextSequence">;
  contents: ContentStore;
  deliveries: Pick<DeliveryStore, "has" | "insert">;
  reversals: Pick<ReversalStore, "count">;
  fit: Fit;
  nowMs: () => number;
};

type Draft = Pick<News, "webhook" | "name" | "content"> & {
  readonly id: string;
  readonly height?: number;
  readonly blockId?: string;
  /** Id of the delivery that it takes back. */
  readonly reverts?: string;
  /** It tells a fact that will have to be taken back when its block is undone. */
  readonly stands: boolean;
  readonly replay?: number | undefined;
};

export function createOutbox(deps: OutboxDeps): Outbox {
  const { network, webhooks, contents, deliveries, reversals, fit, nowMs } = deps;

  function takenBackBy({ reverts, name, height, blockId }: Event, webhook: number, logSequence: number) {
    if (reverts === undefined) return undefined;
    const times = reversals.count(blockId!, logSequence);
    // What is told behind the reversal of the block itself is about the application that was just counted.
    const timesReverted = isRetraction(name) ? times : times - 1;
    return deliveryId(network, webhook, { id: reverts, ...heightOf(height), timesReverted });
  }

  function idOf({ id, name, height, blockId }: Event, webhook: number, logSequence: number): string {
    const isFact = blockId !== undefined && isChainFact(name);
    const occurrence = isFact
      ? { ...heightOf(height), timesReverted: reversals.count(blockId, logSequence) }
      : { logSequence };
    return deliveryId(network, webhook, { id, ...occurrence });
  }

  function post({ webhook, name, content, id, height, blockId, reverts, stands, replay }: Draft): boolean {
    // Before the number is taken: numbers have no gaps.
    if (deliveries.has(webhook, id)) return false;
    deliveries.insert(
      {
        webhook,
        id,
        sequence: webhooks.nextSequence(webhook),
        event: name,
        ...heightOf(height),
        ...(blockId !== undefined && { blockId }),
        ...(reverts !== undefined && { reverts }),
        content: content(),
        stands,
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
      const takenBack = takenBackBy(event, webhook, logSequence);
      return post({
        webhook,
        name,
        content,
        ...heightOf(height),
        ...(blockId !== undefined && { blockId }),
        ...(takenBack === undefined
          ? { id: idOf(event, webhook, logSequence) }
          : { id: reversalId(network, webhook, event.name, takenBack) }),
        // A wallet as it is after the revert is told beside what takes back its former state.
        ...(takenBack !== undefined &&
          isRetraction(event.name) &&
          deliveries.has(webhook, takenBack) && { reverts: takenBack }),
        stands: takenBack === undefined && blockId !== undefined && isChainFact(event.name),
        replay,
      });
    },
    takeBack({ webhook, id: reverts, event, height, blockId, content }) {
      const name = retractionNameOf(event);
      const id = reversalId(network, webhook, name, reverts);
      return post({ webhook, name, content: () => content, id, height, blockId, reverts, stands: false });
    },
    idOf,
    takenBackBy,
  };
}

const heightOf = (height: number | undefined) => (height === undefined ? {} : { height });
