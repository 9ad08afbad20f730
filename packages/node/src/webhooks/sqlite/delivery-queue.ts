/**
 * The delivery queue in SQLite. The calls are synchronous: their promises are settled when they return, so that a run of the
 * dispatcher ends in the tick of the event loop in which it started.
 */
import type { Database } from "../../store/engine/database.ts";
import {
  type AttemptOutcome,
  createSoleOwner,
  type DeliveryLogRows,
  type DeliveryQueue,
  type RecordedOutcome,
  type RetentionSteps,
} from "../delivery-queue.ts";
import type { SecretCipher } from "../secrets.ts";
import { finishStep, suspendWebhook } from "../storage/queues.ts";
import { ReplayRows } from "../storage/replays.ts";
import { createContentStore, createDeliveryStore, type DeliveryStore } from "./deliveries.ts";
import { createDeliveryLogStore } from "./delivery-log.ts";
import { createDeliveryRetentionStore } from "./delivery-retention.ts";
import { createAttemptCountStore, createWebhookHealthStore } from "./health.ts";
import { createSqliteStore, runNow, type Sync, sqlOf, toPort } from "./sql.ts";
import { createWebhookStore, type WebhookStore } from "./webhooks.ts";

/** The functions of the port to send deliveries. */
type Lanes = Omit<DeliveryQueue, "finishStep" | "ownership" | "log" | "replays" | "retention">;

/**
 * @param cipher cipher of the webhooks' secrets
 * @param epoch epoch of this process as the owner of all webhooks
 */
export function createSqliteDeliveryQueue(
  database: Database,
  cipher: SecretCipher,
  epoch: number,
): DeliveryQueue {
  const webhooks = createWebhookStore(database, cipher);
  const deliveries = createDeliveryStore(database, cipher);
  const store = createSqliteStore(database);
  return {
    ...toPort<Lanes>({
      webhooks: webhooks.ids,
      states: (ids, latestMs) => ids.map((id) => deliveries.state(id, latestMs)),
      nextFirst: deliveries.nextFirst,
      nextRetry: deliveries.nextRetry,
      nextReplayed: deliveries.nextReplayed,
      record: createRecord(database, webhooks, deliveries),
      recordPing: createRecordPing(database, deliveries),
    }),
    finishStep: (atMs) => finishStep(store, [], atMs),
    ownership: createSoleOwner(epoch),
    log: toPort<DeliveryLogRows>(createDeliveryLogStore(database)),
    replays: new ReplayRows(store),
    retention: toPort<RetentionSteps>(createDeliveryRetentionStore(database)),
  };
}

const NOT_CURRENT: RecordedOutcome = { isCurrent: false, failures: 0 };

function createRecord(
  database: Database,
  webhooks: Pick<WebhookStore, "targetOf">,
  deliveries: DeliveryStore,
): Sync<Lanes>["record"] {
  const attemptCounts = createAttemptCountStore(database);
  const health = createWebhookHealthStore(database);

  /** Records an attempt, and its consequences for the delivery and the webhook. */
  function record({ webhook, delivery, target, attempt, atMs, failure }: AttemptOutcome): RecordedOutcome {
    deliveries.recordAttempt(delivery, attempt);
    if (target !== undefined && webhooks.targetOf(webhook) !== target) return NOT_CURRENT;
    if (!failure) {
      if (!deliveries.finish(delivery, "delivered", atMs)) return NOT_CURRENT;
      health.recordSuccess(webhook);
      return { isCurrent: true, failures: 0 };
    }
    const { reason, retryMs, suspension } = failure;
    const isCurrent =
      retryMs === undefined
        ? deliveries.finish(delivery, "failed", atMs, reason)
        : deliveries.postpone(delivery, retryMs, atMs, reason);
    if (!isCurrent) return NOT_CURRENT;
    const { failures, failingSinceMs } = health.recordFailure(webhook, atMs);
    if (failingSinceMs >= (suspension.ifFailingBeforeMs ?? Number.POSITIVE_INFINITY)) {
      return { isCurrent, failures };
    }
    runNow(suspendWebhook(sqlOf(database), webhook, suspension.reason, atMs));
    return { isCurrent, failures, suspended: suspension.reason };
  }

  return (outcomes) =>
    database.transaction(() => {
      const recorded = outcomes.map(record);
      attemptCounts.add(outcomes.filter((_outcome, index) => recorded[index]?.isCurrent));
      return recorded;
    });
}

function createRecordPing(database: Database, deliveries: DeliveryStore): Sync<Lanes>["recordPing"] {
  const contents = createContentStore(database);
  return ({ webhook, id, createdMs, dataText, attempt, finishedMs, failure }) =>
    database.transaction(() => {
      const content = contents.insert({ dataText });
      const number = deliveries.insert({ webhook, id, event: "ping", content }, createdMs);
      deliveries.recordAttempt(number, attempt);
      deliveries.finish(number, failure === undefined ? "delivered" : "failed", finishedMs, failure);
      return number;
    });
}
