/** The delivery log of a webhook, and operations to send deliveries again (webhooks.md 10 point 5). */
import { HOUR_MS } from "../../platform/clock/durations.ts";
import { present } from "../../platform/present.ts";
import { WebhookError } from "../error.ts";
import type {
  DeliveryFilter,
  DeliveryPage,
  DeliveryRange,
  DeliveryRecord,
  LatestDeliveries,
} from "../model/deliveries.ts";
import { bodyOf } from "../model/message.ts";
import type { Webhook } from "../model/webhook.ts";
import { type RetriesDeps, readRetry, type Sent, sendMatching, sendSome } from "./retries.ts";

/** States of the newest deliveries, and outcomes by the hour. Times are milliseconds since 1970. */
export type DeliverySummary = {
  /** Number of counted deliveries, which are the newest; by state below. */
  readonly count: number;
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly pending: number;
  /** Creation time of the oldest counted delivery; absent without deliveries. */
  readonly sinceMs?: number;
  /** Creation time of the oldest pending delivery or retry, counted or not; absent if none is pending. */
  readonly oldestWaitingMs?: number;
  /** Counted deliveries that ended in each of the last hours, from the oldest to the current hour. */
  readonly hours: readonly Hour[];
};

/** Outcomes of one hour; `atMs` is its start. */
type Hour = { readonly atMs: number; readonly delivered: number; readonly failed: number };

type DeliveryLogDeps = RetriesDeps & {
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  findWebhook: (id: string) => Promise<Webhook>;
  nowMs: () => number;
};

/** A delivery with the exact text of its message. */
export type DeliveryWithBody = DeliveryRecord & { readonly body: string };

/** Maximum characters of an id that an error repeats. */
const MAX_SHOWN = 64;

/** Ids may be any text. Valid ids are the id of a webhook, and the number or webhook-id of a delivery. */
export class DeliveryLog {
  readonly #deps: DeliveryLogDeps;

  constructor(deps: DeliveryLogDeps) {
    this.#deps = deps;
  }

  /**
   * Returns a page, newest first; `before` is the `next` of the previous page.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN
   */
  async page(id: string, filter: DeliveryFilter, range: DeliveryRange): Promise<DeliveryPage> {
    const { id: webhook } = await this.#deps.findWebhook(id);
    return this.#deps.rows.page(webhook, filter, range);
  }

  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  async summary(id: string): Promise<DeliverySummary> {
    const { rows, findWebhook, nowMs } = this.#deps;
    const { id: webhook } = await findWebhook(id);
    return summaryOf(await rows.latest(webhook, SUMMARIZED_DELIVERIES), nowMs());
  }

  /** @throws {WebhookError} WEBHOOK_UNKNOWN, DELIVERY_UNKNOWN */
  async find(id: string, delivery: string): Promise<DeliveryWithBody> {
    const { rows, findWebhook } = this.#deps;
    const record = await this.#find((await findWebhook(id)).id, delivery);
    return {
      ...record,
      body: bodyOf(present(await rows.message(record.number), "the message of a delivery")),
    };
  }

  /**
   * Sends a delivery now, in any state, with the same id and body and the full schedule of retries. A finished delivery is
   * sent again; a pending one skips its pause. In strict order, the deliveries before it in the queue are sent first.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, WEBHOOK_OFF, QUEUE_ENDING, DELIVERY_UNKNOWN, DELIVERY_UNDONE
   */
  async retry(id: string, delivery: string): Promise<void> {
    const webhook = await this.#deps.findWebhook(id);
    const record = await this.#find(webhook.id, delivery);
    if (record.isUndone) {
      throw new WebhookError(
        "DELIVERY_UNDONE",
        "the block of the delivery was reverted, and the receiver got a retraction: there is nothing to retry",
      );
    }
    const { retried } = await sendSome(this.#deps, webhook, [record]);
    if (retried > 0 || record.state === "pending" || record.reverts === undefined) return;
    throw new WebhookError(
      "DELIVERY_UNDONE",
      "the target never received the fact that this delivery retracts: there is nothing to retract",
    );
  }

  /**
   * Sends the deliveries that `body.deliveries` lists, or every delivery that matches the other members, which filter
   * as in the log; without a state, failed deliveries. Resolves to the number of deliveries.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN, WEBHOOK_OFF, QUEUE_ENDING
   */
  async retryAll(id: string, body: unknown): Promise<Sent> {
    const { rows, findWebhook } = this.#deps;
    const retry = readRetry(body);
    const webhook = await findWebhook(id);
    if (retry.deliveries === undefined) return sendMatching(this.#deps, webhook, retry.filter);
    return sendSome(this.#deps, webhook, await rows.find(webhook.id, retry.deliveries.map(keyOf)));
  }

  async #find(webhook: number, delivery: string): Promise<DeliveryRecord> {
    const [record] = await this.#deps.rows.find(webhook, [keyOf(delivery)]);
    if (record) return record;
    throw new WebhookError(
      "DELIVERY_UNKNOWN",
      `delivery ${delivery.slice(0, MAX_SHOWN)} of webhook ${webhook} not found: GET /api/v2/webhooks/${webhook}/deliveries lists the deliveries in the log`,
    );
  }
}

/** Parses a number of the log, or an id. */
const keyOf = (delivery: string): number | string =>
  /^[1-9]\d{0,14}$/.test(delivery) ? Number(delivery) : delivery;

/** Maximum number of counted deliveries, which take about a millisecond to read. */
const SUMMARIZED_DELIVERIES = 1_000;
export const SUMMARIZED_HOURS = 24;

export function summaryOf({ deliveries, oldestWaitingMs }: LatestDeliveries, nowMs: number): DeliverySummary {
  const states = { delivered: 0, failed: 0, cancelled: 0, pending: 0 };
  const firstMs = (Math.floor(nowMs / HOUR_MS) - SUMMARIZED_HOURS + 1) * HOUR_MS;
  const hours = Array.from({ length: SUMMARIZED_HOURS }, (_, index) => ({
    atMs: firstMs + index * HOUR_MS,
    delivered: 0,
    failed: 0,
  }));
  for (const { state, finishedMs } of deliveries) {
    states[state]++;
    const hour = finishedMs === undefined ? undefined : hours[Math.floor((finishedMs - firstMs) / HOUR_MS)];
    if (hour && (state === "delivered" || state === "failed")) hour[state]++;
  }
  const oldest = deliveries.at(-1);
  return {
    count: deliveries.length,
    ...states,
    ...(oldest && { sinceMs: oldest.createdMs }),
    ...(oldestWaitingMs !== undefined && { oldestWaitingMs }),
    hours,
  };
}
