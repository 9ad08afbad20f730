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
  type ReplayRows,
  type RetentionSteps,
} from "../delivery-queue.ts";
import { CANCELLATION } from "../model/replay.ts";
import type { SecretCipher } from "../secrets.ts";
import { createContentStore, createDeliveryStore, type DeliveryStore } from "./deliveries.ts";
import { createDeliveryLogStore } from "./delivery-log.ts";
import { createDeliveryRetentionStore } from "./delivery-retention.ts";
import { createAttemptCountStore, createSuspendWebhook, createWebhookHealthStore } from "./health.ts";
import { createFinishedDeliveryStore, createRestartedQueueStore } from "./queues.ts";
import { createReplayQueue, createReplayStore, type ReplayQueue } from "./replays.ts";
import { type Sync, toPort } from "./sync.ts";
import { createWebhookStore, type WebhookStore } from "./webhooks.ts";

/** The functions of the port to send deliveries. */
type Lanes = Omit<DeliveryQueue, "ownership" | "log" | "replays" | "retention">;

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
  const replayQueue = createReplayQueue(database, cipher);
  const finishedDeliveries = createFinishedDeliveryStore(database);
  const restartedQueues = createRestartedQueueStore(database);
  return {
    ...toPort<Lanes>({
      webhooks: webhooks.ids,
      states: (ids, latestMs) => ids.map((id) => deliveries.state(id, latestMs)),
      nextFirst: deliveries.nextFirst,
      nextRetry: deliveries.nextRetry,
      nextReplayed: replayQueue.next,
      record: createRecord(database, webhooks, deliveries),
      recordPing: createRecordPing(database, deliveries),
      finishStep(atMs) {
        const step = finishedDeliveries.step(atMs);
        return step.more ? step : restartedQueues.step();
      },
    }),
    ownership: createSoleOwner(epoch),
    log: toPort<DeliveryLogRows>(createDeliveryLogStore(database)),
    replays: toPort<ReplayRows>(createReplayRows(database, replayQueue)),
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
  const suspend = createSuspendWebhook(database);

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
    suspend(webhook, suspension.reason, atMs);
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

function createReplayRows(database: Database, replayQueue: ReplayQueue): Sync<ReplayRows> {
  const replays = createReplayStore(database);
  return {
    start: (webhook, range, atMs) =>
      database.transaction(() => {
        if (replays.find(webhook)?.state === "running") return false;
        replays.start(webhook, range, atMs);
        return true;
      }),
    find(webhook) {
      const replay = replays.find(webhook);
      return replay && { ...replay, waiting: replayQueue.waiting(webhook) };
    },
    next: replays.next,
    finish: (webhook, atMs) => replays.end(webhook, "finished", atMs),
    cancel: (webhook, atMs) =>
      database.transaction(() => {
        replayQueue.cancel(webhook, CANCELLATION.deliveries, atMs);
        replays.end(webhook, "cancelled", atMs, CANCELLATION.replay);
      }),
  };
}
