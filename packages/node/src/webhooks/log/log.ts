/** The log of the deliveries of a webhook, and how they are sent again (webhooks.md 10 point 5). */
import type { DeliveryFilter, DeliveryPage, DeliveryRange, DeliveryRecord } from "../deliveries.ts";
import { bodyOf } from "../delivery/message.ts";
import type { DeliveryLogRows } from "../delivery-queue.ts";
import { WebhookError } from "../error.ts";
import type { Webhook } from "../webhook.ts";
import { createRetries, readRetry } from "./retries.ts";
import { type DeliverySummary, SUMMARIZED_DELIVERIES, summaryOf } from "./summary.ts";

export type DeliveryLogDeps = {
  rows: DeliveryLogRows;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  findWebhook: (id: string) => Webhook;
  /** Deliveries of the webhook were put into the queue again, or are due. */
  onQueued: (webhook: number) => void;
  /** Whether a call of a delivery is under way. */
  isUnderWay: (delivery: number) => boolean;
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
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  summary(id: string): Promise<DeliverySummary>;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN, DELIVERY_UNKNOWN */
  find(id: string, delivery: string): Promise<DeliveryWithBody>;
  /**
   * Sends a delivery now, in whatever state it is, with the same id and body, and the whole schedule of retries: again if it
   * has ended, without its pause if it waits. In strict order what is before it in the queue is sent before it.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, WEBHOOK_OFF, DELIVERY_UNKNOWN, DELIVERY_UNDONE
   */
  retry(id: string, delivery: string): Promise<void>;
  /**
   * The same for the deliveries that `body.deliveries` lists, or for every delivery that matches the other members, those of
   * the log's filter; without a state, for those that failed. Returns their number.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN, WEBHOOK_OFF
   */
  retryAll(id: string, body: unknown): Promise<number>;
};

/** Characters of an id that an error repeats. */
const MAX_SHOWN = 64;

export function createDeliveryLog(deps: DeliveryLogDeps): DeliveryLog {
  const { rows, findWebhook, nowMs } = deps;
  const retries = createRetries(deps);

  async function find(webhook: number, delivery: string): Promise<DeliveryRecord> {
    const record = await rows.find(webhook, keyOf(delivery));
    if (!record) {
      throw new WebhookError(
        "DELIVERY_UNKNOWN",
        `delivery ${delivery.slice(0, MAX_SHOWN)} of webhook ${webhook} not found: GET /api/v2/webhooks/${webhook}/deliveries lists the deliveries in the log`,
      );
    }
    return record;
  }

  return {
    page: async (id, filter, range) => rows.page(findWebhook(id).id, filter, range),
    summary: async (id) => summaryOf(await rows.latest(findWebhook(id).id, SUMMARIZED_DELIVERIES), nowMs()),
    async find(id, delivery) {
      const record = await find(findWebhook(id).id, delivery);
      return { ...record, body: bodyOf((await rows.message(record.number))!) };
    },
    async retry(id, delivery) {
      const webhook = findWebhook(id);
      const record = await find(webhook.id, delivery);
      if (record.isUndone) {
        throw new WebhookError(
          "DELIVERY_UNDONE",
          "the block of the delivery was reverted, and the receiver got a retraction: there is nothing to retry",
        );
      }
      await retries.one(webhook, record);
    },
    async retryAll(id, body) {
      const retry = readRetry(body, nowMs());
      const webhook = findWebhook(id);
      if (retry.deliveries === undefined) return retries.matching(webhook, retry.filter);
      const records = await Promise.all(retry.deliveries.map((key) => rows.find(webhook.id, keyOf(key))));
      return retries.some(
        webhook,
        records.filter((record) => record !== undefined),
      );
    },
  };
}

/** A number of the log, or an id. */
const keyOf = (delivery: string): number | string =>
  /^[1-9]\d{0,14}$/.test(delivery) ? Number(delivery) : delivery;
