/** Holding facts back until their blocks are deep enough: what is undone before is never told at all. */
import type { LoggedEvent } from "../../events/event.ts";
import type { Held, HeldStore } from "../../store/webhooks/unconfirmed-events.ts";
import type { Definitions } from "./definitions.ts";
import type { News, Outbox } from "./outbox.ts";

export type Confirmations = {
  /** Keeps news of a block until so many others lie above it. `false`: it is kept already. */
  hold(news: Omit<News, "content"> & Pick<Held, "dataText">, confirmations: number): boolean;
  /**
   * A block was applied: tells what is deep enough by now, as far as the limit allows. Answers the webhooks of the facts
   * that were let go, one for each.
   */
  release(height: number, limit: number): number[];
  /** A block was undone. */
  drop(event: LoggedEvent): void;
};

export type ConfirmationDeps = { held: HeldStore; definitions: Definitions; outbox: Outbox };

export function createConfirmations({ held, definitions, outbox }: ConfirmationDeps): Confirmations {
  return {
    hold({ event, ...news }, confirmations) {
      const { height, blockId } = event;
      return held.hold(
        { ...news, event: { ...event, height: height!, blockId: blockId! } },
        height! + confirmations,
      );
    },
    release(height, limit) {
      const webhooks: number[] = [];
      for (const webhook of held.due(height)) {
        if (webhooks.length === limit) break;
        const definition = definitions.find(webhook);
        // One that is off hears of nothing.
        if (!definition) continue;
        const deepEnough = height - definition.confirmations;
        for (const { dataText, ...news } of held.release(webhook, deepEnough, limit - webhooks.length)) {
          outbox.put({ ...news, content: outbox.share(news.event.name, () => dataText) });
          webhooks.push(webhook);
        }
      }
      return webhooks;
    },
    drop: ({ height, blockId }) => held.dropBlock(height!, blockId!),
  };
}
