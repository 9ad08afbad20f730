/** The commands of the intake as statements. Must be called in the transaction of their batch. */
import type { Database } from "../../store/engine/database.ts";
import type { DeliveryDraft, IntakeCommand } from "../intake.ts";
import type { TimedContent } from "../model/deliveries.ts";
import type { Replay } from "../model/replay.ts";
import { createDeliveryStore } from "./deliveries.ts";
import { createContentStore } from "./messages.ts";
import { createReplayQueue } from "./replay-queue.ts";
import { createBlockRevertStore, createDeliveredFactStore } from "./retractions.ts";
import { createUnconfirmedEventStore } from "./unconfirmed-events.ts";
import { createSuspendWebhook } from "./webhook-health.ts";
import type { WebhookStore } from "./webhooks.ts";

/** State of a batch. */
export type BatchState = {
  readonly atMs: number;
  /** Numbers of the contents that the batch has stored. */
  readonly contents: Map<TimedContent, number>;
  /** The replay of the deliveries; its `events` counts them. */
  readonly replay?: Pick<Replay, "lastDelivery"> & { events: number };
};

/** Applies a command. Returns the webhook for which something was written. */
export type ApplyCommand = (state: BatchState, command: IntakeCommand) => number | undefined;

export function createApplyCommand(
  database: Database,
  webhooks: Pick<WebhookStore, "nextSequence">,
): ApplyCommand {
  const facts = createDeliveredFactStore(database);
  const unconfirmed = createUnconfirmedEventStore(database);
  const { record } = createBlockRevertStore(database);
  const suspend = createSuspendWebhook(database);
  const enqueue = createEnqueue(database, webhooks);
  return (state, command) => {
    switch (command.kind) {
      case "enqueue":
        return enqueue(state, command.delivery) ? command.delivery.webhook : undefined;
      case "defer":
        return unconfirmed.add(command.event) ? command.event.webhook : undefined;
      case "confirm": {
        const { webhook } = command.delivery;
        unconfirmed.remove(webhook, command.logSequence);
        enqueue(state, command.delivery);
        return webhook;
      }
      case "retract":
        facts.retract(command.number, state.atMs);
        if (command.retraction) enqueue(state, command.retraction);
        return command.webhook;
      case "drop":
        unconfirmed.dropBlock(command.block);
        return undefined;
      case "revert":
        record(command.blockId, command.sequence);
        return undefined;
      case "suspend":
        suspend(command.webhook, command.reason, state.atMs);
        return command.webhook;
    }
  };
}

function createEnqueue(
  database: Database,
  { nextSequence }: Pick<WebhookStore, "nextSequence">,
): (state: BatchState, draft: DeliveryDraft) => boolean {
  const { has, insert } = createDeliveryStore(database);
  const { putAgain } = createReplayQueue(database);
  const { insert: insertContent } = createContentStore(database);

  function numberOf({ contents }: BatchState, content: DeliveryDraft["content"]): number {
    if (typeof content === "number") return content;
    const number = contents.get(content) ?? insertContent(content);
    contents.set(content, number);
    return number;
  }

  /** Inserts a delivery, unless the webhook has it. */
  function insertNew(state: BatchState, draft: DeliveryDraft, replay: number | undefined): boolean {
    const { requires, reverts, ...delivery } = draft;
    const { webhook, id } = delivery;
    // Checked before taking a number, because numbers have no gaps.
    if (has(webhook, id) || (requires !== undefined && !has(webhook, requires))) return false;
    insert(
      {
        ...delivery,
        ...(reverts !== undefined && has(webhook, reverts) && { reverts }),
        sequence: nextSequence(webhook),
        content: numberOf(state, delivery.content),
        ...(replay !== undefined && { replay }),
      },
      state.atMs,
    );
    return true;
  }

  return (state, draft) => {
    const { replay } = state;
    if (!replay) return insertNew(state, draft, undefined);
    const { webhook, id } = draft;
    const position = replay.events + 1;
    // Deliveries from before the replay are sent again; those made since it began are not.
    const isQueued =
      insertNew(state, draft, position) || putAgain(webhook, { id, position, upTo: replay.lastDelivery });
    if (isQueued) replay.events++;
    return isQueued;
  };
}
