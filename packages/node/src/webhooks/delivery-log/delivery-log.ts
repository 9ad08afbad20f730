/** The delivery log of a webhook, and operations to send deliveries again (webhooks.md 10 point 5). */

import { present } from "../../platform/present.ts";
import type { DeliveryLogRows } from "../delivery-queue.ts";
import { WebhookError } from "../error.ts";
import type { DeliveryFilter, DeliveryPage, DeliveryRange, DeliveryRecord } from "../model/deliveries.ts";
import { bodyOf } from "../model/message.ts";
import type { Webhook } from "../model/webhook.ts";
import { createRetries, readRetry, type Sent } from "./retries.ts";
import { type DeliverySummary, SUMMARIZED_DELIVERIES, summaryOf } from "./summary.ts";

export type DeliveryLogDeps = {
  rows: DeliveryLogRows;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  findWebhook: (id: string) => Promise<Webhook>;
  /** Called when deliveries of the webhook were put back into the queue or became due. */
  onQueued: (webhook: number) => void;
  /** Returns whether a call of a delivery is running. */
  isUnderWay: (delivery: number) => boolean;
  nowMs: () => number;
  /** Time by which deliveries become due. */
  steadyMs: () => number;
};

/** A delivery with the exact text of its message. */
export type DeliveryWithBody = DeliveryRecord & { readonly body: string };

/** Ids may be any text. Valid ids are the id of a webhook, and the number or webhook-id of a delivery. */
export type DeliveryLog = {
  /**
   * Returns a page, newest first; `before` is the `next` of the previous page.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN
   */
  page(id: string, filter: DeliveryFilter, range: DeliveryRange): Promise<DeliveryPage>;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  summary(id: string): Promise<DeliverySummary>;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN, DELIVERY_UNKNOWN */
  find(id: string, delivery: string): Promise<DeliveryWithBody>;
  /**
   * Sends a delivery now, in any state, with the same id and body and the full schedule of retries. A finished delivery is
   * sent again; a pending one skips its pause. In strict order, the deliveries before it in the queue are sent first.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, WEBHOOK_OFF, DELIVERY_UNKNOWN, DELIVERY_UNDONE
   */
  retry(id: string, delivery: string): Promise<void>;
  /**
   * Sends the deliveries that `body.deliveries` lists, or every delivery that matches the other members, which filter
   * as in the log; without a state, failed deliveries. Resolves to the number of deliveries.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN, WEBHOOK_OFF
   */
  retryAll(id: string, body: unknown): Promise<Sent>;
};

/** Maximum characters of an id that an error repeats. */
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
    page: async (id, filter, range) => rows.page((await findWebhook(id)).id, filter, range),
    async summary(id) {
      const { id: webhook } = await findWebhook(id);
      return summaryOf(await rows.latest(webhook, SUMMARIZED_DELIVERIES), nowMs());
    },
    async find(id, delivery) {
      const record = await find((await findWebhook(id)).id, delivery);
      return {
        ...record,
        body: bodyOf(present(await rows.message(record.number), "the message of a delivery")),
      };
    },
    async retry(id, delivery) {
      const webhook = await findWebhook(id);
      const record = await find(webhook.id, delivery);
      if (record.isUndone) {
        throw new WebhookError(
          "DELIVERY_UNDONE",
          "the block of the delivery was reverted, and the receiver got a retraction: there is nothing to retry",
        );
      }
      const { retried } = await retries.one(webhook, record);
      if (retried > 0 || record.state === "pending" || record.reverts === undefined) return;
      throw new WebhookError(
        "DELIVERY_UNDONE",
        "the target never received the fact that this delivery retracts: there is nothing to retract",
      );
    },
    async retryAll(id, body) {
      const retry = readRetry(body, nowMs());
      const webhook = await findWebhook(id);
      if (retry.deliveries === undefined) return retries.matching(webhook, retry.filter);
      const records = await Promise.all(retry.deliveries.map((key) => rows.find(webhook.id, keyOf(key))));
      return retries.some(
        webhook,
        records.filter((record) => record !== undefined),
      );
    },
  };
}

/** Parses a number of the log, or an id. */
const keyOf = (delivery: string): number | string =>
  /^[1-9]\d{0,14}$/.test(delivery) ? Number(delivery) : delivery;
