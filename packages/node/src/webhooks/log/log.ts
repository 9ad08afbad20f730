/** The log of the deliveries of a webhook, and how they are sent again (webhooks.md 10 point 5). */
import { setImmediate } from "node:timers/promises";
import { integer, oneOf, type Readers, readMembers, text } from "../../subscriptions/members.ts";
import type {
  DeliveryFilter,
  DeliveryPage,
  DeliveryRange,
  DeliveryRecord,
  EndedFilter,
} from "../deliveries.ts";
import { bodyOf } from "../delivery/message.ts";
import type { DeliveryLogRows } from "../delivery-queue.ts";
import { WebhookError } from "../error.ts";
import type { Webhook } from "../webhook.ts";
import { type DeliverySummary, SUMMARIZED_DELIVERIES, summaryOf } from "./summary.ts";

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
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  summary(id: string): Promise<DeliverySummary>;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN, DELIVERY_UNKNOWN */
  find(id: string, delivery: string): Promise<DeliveryWithBody>;
  /**
   * Sends a delivery again, in whatever state it is, with the same id and body, and the whole schedule of retries.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, DELIVERY_UNKNOWN, DELIVERY_WAITING, DELIVERY_UNDONE
   */
  retry(id: string, delivery: string): Promise<void>;
  /**
   * The same for every delivery that matches the members of the body, those of the log's filter; without a state, for
   * those that failed. Returns their number.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN
   */
  retryAll(id: string, body: unknown): Promise<number>;
};

const MAX = Number.MAX_SAFE_INTEGER;

type RetryMembers = Omit<EndedFilter, "fromMs" | "toMs"> & {
  readonly from: number;
  readonly to: number;
  /** The older name of `from`. */
  readonly since: number;
};

const READERS: Readers<RetryMembers> = {
  state: oneOf("delivered", "failed", "cancelled"),
  event: text,
  height: integer(1, MAX),
  from: integer(0, MAX),
  to: integer(0, MAX),
  since: integer(0, MAX),
};

/** Characters of an id that an error repeats. */
const MAX_SHOWN = 64;

/** Deliveries that are read and put into the queue in one transaction: some milliseconds of the writer. */
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
    summary: async (id) => summaryOf(await rows.latest(findWebhook(id).id, SUMMARIZED_DELIVERIES), nowMs()),
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
    async retryAll(id, body) {
      const { state = "failed", from = 0, since = 0, to = MAX, ...rest } = readMembers(body, READERS);
      const webhook = findWebhook(id).id;
      // What is made meanwhile is not meant.
      const filter = { ...rest, state, fromMs: Math.max(from, since), toMs: Math.min(to, nowMs()) };
      let total = 0;
      let after = 0;
      for (;;) {
        const range = { after, limit: REQUEUED_AT_ONCE };
        const { count, last } = await rows.requeueMatching(webhook, filter, range, nowMs());
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
