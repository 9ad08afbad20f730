/** What became of the deliveries of a webhook, and how they are sent again (webhooks.md 10 point 5). */
import { setImmediate } from "node:timers/promises";
import type {
  DeliveryFilter,
  DeliveryLogStore,
  DeliveryPage,
  DeliveryRange,
  DeliveryRecord,
} from "../../store/webhooks/delivery-log.ts";
import type { Webhook } from "../../store/webhooks/webhooks.ts";
import { integer, type Readers, readMembers, required } from "../../subscriptions/members.ts";
import { bodyOf } from "../delivery/message.ts";
import { WebhookError } from "../error.ts";

export type DeliveryLogDeps = {
  store: DeliveryLogStore;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  findWebhook: (id: string) => Webhook;
  /** Deliveries of the webhook came back into the queue. */
  onQueued: (webhook: number) => void;
  nowMs: () => number;
};

/** `body` is the exact text that is sent. */
export type DeliveryWithBody = DeliveryRecord & { readonly body: string };

/** Ids are any text: that of a webhook, and the number of a delivery or its webhook-id. */
export type DeliveryLog = {
  /**
   * Newest first; `before` is the `next` of the page before.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN
   */
  page(id: string, filter: DeliveryFilter, range: DeliveryRange): DeliveryPage;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN, DELIVERY_UNKNOWN */
  find(id: string, delivery: string): DeliveryWithBody;
  /**
   * Sends a delivery again, whatever became of it, with the same id and body, and the whole schedule before it.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, DELIVERY_UNKNOWN, DELIVERY_WAITING, DELIVERY_UNDONE
   */
  retry(id: string, delivery: string): void;
  /**
   * The same for every failed delivery made since `body.since`, in milliseconds since 1970. Answers their number.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN
   */
  retryFailed(id: string, body: unknown): Promise<number>;
};

const READERS: Readers<{ since: number }> = { since: integer(0, Number.MAX_SAFE_INTEGER) };

/** Failed deliveries looked at in one go: some milliseconds of the writer. */
const REQUEUED_AT_ONCE = 500;

export function createDeliveryLog(deps: DeliveryLogDeps): DeliveryLog {
  const { store, findWebhook, onQueued, nowMs } = deps;

  function find(webhook: number, delivery: string): DeliveryRecord {
    const record = store.find(webhook, /^[1-9]\d{0,14}$/.test(delivery) ? Number(delivery) : delivery);
    if (!record) throw new WebhookError("DELIVERY_UNKNOWN", "Not Found");
    return record;
  }

  return {
    page: (id, filter, range) => store.page(findWebhook(id).id, filter, range),
    find(id, delivery) {
      const record = find(findWebhook(id).id, delivery);
      return { ...record, body: bodyOf(store.message(record.number)!) };
    },
    retry(id, delivery) {
      const webhook = findWebhook(id).id;
      const { number, isUndone } = find(webhook, delivery);
      if (isUndone) throw new WebhookError("DELIVERY_UNDONE", "what the delivery tells is not true any more");
      if (!store.requeue(number, nowMs())) {
        throw new WebhookError("DELIVERY_WAITING", "the delivery waits in the queue already");
      }
      onQueued(webhook);
    },
    async retryFailed(id, body) {
      const sinceMs = required(readMembers(body, READERS).since, "since");
      const webhook = findWebhook(id).id;
      let total = 0;
      let after = 0;
      for (;;) {
        const { count, last } = store.requeueFailed(
          webhook,
          { sinceMs, after, limit: REQUEUED_AT_ONCE },
          nowMs(),
        );
        total += count;
        if (count > 0) onQueued(webhook);
        if (last === undefined) return total;
        // What fails again at once has a smaller number, and is not met twice.
        after = last;
        await setImmediate();
      }
    },
  };
}
