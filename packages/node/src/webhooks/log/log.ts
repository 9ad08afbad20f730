/** The log of the deliveries of a webhook, and how they are sent again (webhooks.md 10 point 5). */
import { setImmediate } from "node:timers/promises";
import { integer, type Readers, readMembers } from "../../subscriptions/members.ts";
import type { DeliveryFilter, DeliveryPage, DeliveryRange, DeliveryRecord } from "../deliveries.ts";
import { bodyOf } from "../delivery/message.ts";
import type { DeliveryLogRows } from "../delivery-queue.ts";
import { WebhookError } from "../error.ts";
import type { Webhook } from "../webhook.ts";

export type DeliveryLogDeps = {
  rows: DeliveryLogRows;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  findWebhook: (id: string) => Webhook;
  /** Deliveries of the webhook were put into the queue again. */
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
  page(id: string, filter: DeliveryFilter, range: DeliveryRange): Promise<DeliveryPage>;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN, DELIVERY_UNKNOWN */
  find(id: string, delivery: string): Promise<DeliveryWithBody>;
  /**
   * Sends a delivery again, in whatever state it is, with the same id and body, and the whole schedule of retries.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, DELIVERY_UNKNOWN, DELIVERY_WAITING, DELIVERY_UNDONE
   */
  retry(id: string, delivery: string): Promise<void>;
  /**
   * The same for every failed delivery made since `body.since`, in milliseconds since 1970; for all without it. Returns
   * their number.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN
   */
  retryFailed(id: string, body: unknown): Promise<number>;
};

const READERS: Readers<{ since: number }> = { since: integer(0, Number.MAX_SAFE_INTEGER) };

/** Characters of an id that an error repeats. */
const MAX_SHOWN = 64;

/** Failed deliveries in one transaction: some milliseconds of the writer. */
const REQUEUED_AT_ONCE = 500;

export function createDeliveryLog(deps: DeliveryLogDeps): DeliveryLog {
  const { rows, findWebhook, onQueued, nowMs } = deps;

  async function find(webhook: number, delivery: string): Promise<DeliveryRecord> {
    const record = await rows.find(webhook, /^[1-9]\d{0,14}$/.test(delivery) ? Number(delivery) : delivery);
    if (!record) {
      throw new WebhookError(
        "DELIVERY_UNKNOWN",
        `delivery ${delivery.slice(0, MAX_SHOWN)} of webhook ${webhook} not found: GET /api/v2/webhooks/${webhook}/deliveries lists those in the log`,
      );
    }
    return record;
  }

  return {
    page: async (id, filter, range) => rows.page(findWebhook(id).id, filter, range),
    async find(id, delivery) {
      const record = await find(findWebhook(id).id, delivery);
      return { ...record, body: bodyOf((await rows.message(record.number))!) };
    },
    async retry(id, delivery) {
      const webhook = findWebhook(id).id;
      const { number, isUndone } = await find(webhook, delivery);
      if (isUndone) {
        throw new WebhookError(
          "DELIVERY_UNDONE",
          "the block of the delivery was reverted, and the receiver got a retraction: there is nothing to retry",
        );
      }
      if (!(await rows.requeue(number, nowMs()))) {
        throw new WebhookError(
          "DELIVERY_WAITING",
          `delivery ${number} waits in the queue already: it is sent without a retry`,
        );
      }
      onQueued(webhook);
    },
    async retryFailed(id, body) {
      const { since: sinceMs = 0 } = readMembers(body, READERS);
      const webhook = findWebhook(id).id;
      let total = 0;
      let after = 0;
      for (;;) {
        const { count, last } = await rows.requeueFailed(
          webhook,
          { sinceMs, after, limit: REQUEUED_AT_ONCE },
          nowMs(),
        );
        total += count;
        if (count > 0) onQueued(webhook);
        if (last === undefined) return total;
        // What fails again meanwhile has a smaller number, and is not put in twice.
        after = last;
        await setImmediate();
      }
    },
  };
}
