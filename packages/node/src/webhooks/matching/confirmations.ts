/** Defers facts until their blocks have enough confirmations: a fact whose block is reverted earlier is never delivered. */
import type { LoggedEvent } from "../../events/event.ts";
import { present } from "../../platform/present.ts";
import type { UnconfirmedEvent, UnconfirmedEvents } from "../intake.ts";
import type { Definitions } from "./definitions.ts";
import type { MatchedEvent, Outbox } from "./outbox.ts";

export type Confirmations = {
  /** Defers a fact until enough blocks follow its block; returns `false` if it is already deferred. */
  defer(
    matched: Omit<MatchedEvent, "content"> & Pick<UnconfirmedEvent, "dataText">,
    confirmations: number,
  ): boolean;
  /**
   * Delivers the facts that have enough confirmations, up to the limit. Returns the webhook of each released fact. Must be
   * called after a block was applied.
   */
  release(height: number, limit: number): number[];
  /** Drops the facts of a block; must be called after the block was reverted. */
  drop(event: LoggedEvent): void;
};

export type ConfirmationDeps = {
  unconfirmed: UnconfirmedEvents;
  definitions: Definitions;
  outbox: Outbox;
};

export function createConfirmations({ unconfirmed, definitions, outbox }: ConfirmationDeps): Confirmations {
  return {
    defer({ event, ...matched }, confirmations) {
      const height = present(event.height, "the height of a fact");
      const blockId = present(event.blockId, "the block of a fact");
      return unconfirmed.add({ ...matched, event: { ...event, height, blockId } }, height + confirmations);
    },
    release(height, limit) {
      const webhooks: number[] = [];
      for (const webhook of unconfirmed.due(height)) {
        if (webhooks.length === limit) break;
        const definition = definitions.find(webhook);
        // A disabled webhook gets no deliveries.
        if (!definition) continue;
        const deepEnough = height - definition.confirmations;
        for (const { dataText, ...matched } of unconfirmed.release(
          webhook,
          deepEnough,
          limit - webhooks.length,
        )) {
          outbox.put({ ...matched, content: outbox.share(matched.event.name, () => dataText) });
          webhooks.push(webhook);
        }
      }
      return webhooks;
    },
    drop({ height, blockId }) {
      if (height !== undefined && blockId !== undefined) unconfirmed.dropBlock(height, blockId);
    },
  };
}
