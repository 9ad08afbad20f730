/** Replays in the API: start, find, cancel (webhooks.md 10 point 5). */
import { type History, isRemembered } from "../../event-log/history.ts";
import { subscribedNames } from "../../events/names.ts";
import type { Database } from "../../store/engine/database.ts";
import type { ReplayQueue } from "../../store/webhooks/replay-queue.ts";
import type { Replay, ReplayStore } from "../../store/webhooks/replays.ts";
import type { Webhook } from "../../store/webhooks/webhooks.ts";
import { integer, invalid, type Readers, readMembers, required } from "../../subscriptions/members.ts";
import { WebhookError } from "../error.ts";
import { checkEvents } from "../register/fields.ts";

/** `waiting`: deliveries that have not arrived yet. */
export type ReplayProgress = Replay & { readonly waiting: number };

/** Ids are any text. */
export type Replays = {
  /**
   * Starts a replay from `body.fromHeight` to `body.toHeight`, both included. The range ends at the last height with
   * enough confirmations.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN, WEBHOOK_OFF, REPLAY_RUNNING
   */
  start(id: string, body: unknown): ReplayProgress;
  /**
   * The last one of the webhook, be it over.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, REPLAY_UNKNOWN
   */
  find(id: string): ReplayProgress;
  /**
   * What was not sent yet is not sent.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, REPLAY_UNKNOWN
   */
  cancel(id: string): void;
};

export type ReplaysDeps = {
  database: Database;
  store: ReplayStore;
  queue: ReplayQueue;
  history: Pick<History, "head">;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  findWebhook: (id: string) => Webhook;
  /** The queue of the webhook is another one. */
  onChanged: (webhook: number) => void;
  nowMs: () => number;
};

const READERS: Readers<{ fromHeight: number; toHeight: number }> = {
  fromHeight: integer(1, Number.MAX_SAFE_INTEGER),
  toHeight: integer(1, Number.MAX_SAFE_INTEGER),
};

export function createReplays(deps: ReplaysDeps): Replays {
  const { database, store, queue, history, findWebhook, onChanged, nowMs } = deps;

  function find(webhook: number): ReplayProgress {
    const replay = store.find(webhook);
    if (!replay) throw new WebhookError("REPLAY_UNKNOWN", "the webhook has no replay");
    return { ...replay, waiting: queue.waiting(webhook) };
  }

  return {
    start(id, body) {
      const given = readMembers(body, READERS);
      const fromHeight = required(given.fromHeight, "fromHeight");
      const askedHeight = required(given.toHeight, "toHeight");
      const webhook = findWebhook(id);
      const highest = history.head() - webhook.confirmations;
      const toHeight = Math.min(askedHeight, highest);
      if (fromHeight > toHeight) {
        throw invalid(
          `"fromHeight" must not be greater than "toHeight", nor than ${highest}, the last height whose events are delivered`,
        );
      }
      if (![...subscribedNames(checkEvents(webhook)).keys()].some(isRemembered)) {
        throw invalid("no event of the webhook can be derived from stored blocks");
      }
      if (!webhook.enabled || webhook.suspended) {
        throw new WebhookError("WEBHOOK_OFF", "the webhook is disabled or suspended");
      }
      if (store.find(webhook.id)?.state === "running") {
        throw new WebhookError("REPLAY_RUNNING", "a replay of the webhook is running; cancel it first");
      }
      store.start(webhook.id, { fromHeight, toHeight }, nowMs());
      onChanged(webhook.id);
      return find(webhook.id);
    },
    find: (id) => find(findWebhook(id).id),
    cancel(id) {
      const { webhook, state } = find(findWebhook(id).id);
      if (state !== "running")
        throw new WebhookError("REPLAY_UNKNOWN", "no replay of the webhook is running");
      database.transaction(() => {
        queue.cancel(webhook, "the replay was cancelled", nowMs());
        store.end(webhook, "cancelled", nowMs(), "by request");
      });
      onChanged(webhook);
    },
  };
}
