/**
 * The delivery queue in SQLite. The calls are synchronous: their promises are settled when they return, so that a run of the
 * dispatcher ends in the tick of the event loop in which it started.
 */
import type { Database } from "../../store/engine/database.ts";
import type { AttemptOutcome, DeliveryQueue, RecordedOutcome } from "../delivery-queue.ts";

import { createContentStore } from "./contents.ts";
import { createDeliveryStore } from "./deliveries.ts";
import { createDeliveryLogStore } from "./delivery-log.ts";
import { createDeliveryRetentionStore } from "./delivery-retention.ts";
import { createExpeditedDeliveryStore } from "./expedited-deliveries.ts";
import { createFinishedDeliveryStore } from "./finished-deliveries.ts";
import { createAttemptCountStore } from "./health-rows.ts";
import { createReplayQueue } from "./replay-queue.ts";
import { createReplayStore } from "./replays.ts";
import { createRestartedQueueStore } from "./restarted-queues.ts";
import type { SecretCipher } from "./secrets/encryption.ts";
import { createSuspension } from "./suspension.ts";
import { createWebhookHealthStore } from "./webhook-health.ts";
import { createWebhookStore } from "./webhooks.ts";

const NOT_CURRENT: RecordedOutcome = { isCurrent: false, failures: 0 };

/** @param cipher cipher of the webhooks' secrets */
export function createSqliteDeliveryQueue(database: Database, cipher: SecretCipher): DeliveryQueue {
  const webhooks = createWebhookStore(database, cipher);
  const deliveries = createDeliveryStore(database, cipher);
  const contents = createContentStore(database);
  const finishedDeliveries = createFinishedDeliveryStore(database);
  const attemptCounts = createAttemptCountStore(database);
  const restartedQueues = createRestartedQueueStore(database);
  const health = createWebhookHealthStore(database);
  const log = createDeliveryLogStore(database);
  const expedited = createExpeditedDeliveryStore(database);
  const replays = createReplayStore(database);
  const replayQueue = createReplayQueue(database, cipher);
  const retention = createDeliveryRetentionStore(database);
  const suspend = createSuspension(database);

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

  return {
    webhooks: async () => webhooks.ids(),
    states: async (ids) => ids.map(deliveries.state),
    nextFirst: async (...lane) => deliveries.nextFirst(...lane),
    nextRetry: async (...lane) => deliveries.nextRetry(...lane),
    nextReplayed: async (...lane) => replayQueue.next(...lane),
    record: async (outcomes) =>
      database.transaction(() => {
        const recorded = outcomes.map(record);
        attemptCounts.add(outcomes.filter((_outcome, index) => recorded[index]?.isCurrent));
        return recorded;
      }),
    recordPing: async ({ webhook, id, createdMs, dataText, attempt, finishedMs, failure }) =>
      database.transaction(() => {
        const content = contents.insert({ dataText });
        const number = deliveries.insert({ webhook, id, event: "ping", content }, createdMs);
        deliveries.recordAttempt(number, attempt);
        deliveries.finish(number, failure === undefined ? "delivered" : "failed", finishedMs, failure);
        return number;
      }),
    async finishStep(atMs) {
      const step = finishedDeliveries.step(atMs);
      return step.more ? step : restartedQueues.step();
    },
    log: {
      page: async (...page) => log.page(...page),
      find: async (...key) => log.find(...key),
      latest: async (...newest) => log.latest(...newest),
      message: async (number) => log.message(number),
      requeue: async (...delivery) => log.requeue(...delivery),
      requeueMatching: async (...range) => log.requeueMatching(...range),
      sendNow: async (webhook, numbers, atMs) =>
        database.transaction(
          () =>
            numbers.filter((number) => log.requeue(number, atMs) || expedited.expedite(webhook, number, atMs))
              .length,
        ),
      expediteMatching: async (...range) => expedited.expediteMatching(...range),
    },
    replays: {
      start: async (webhook, range, atMs) =>
        database.transaction(() => {
          if (replays.find(webhook)?.state === "running") return false;
          replays.start(webhook, range, atMs);
          return true;
        }),
      async find(webhook) {
        const replay = replays.find(webhook);
        return replay && { ...replay, waiting: replayQueue.waiting(webhook) };
      },
      next: async (...range) => replays.next(...range),
      finish: async (webhook, atMs) => replays.end(webhook, "finished", atMs),
      cancel: async (webhook, atMs) =>
        database.transaction(() => {
          replayQueue.cancel(webhook, "the replay was cancelled", atMs);
          replays.end(webhook, "cancelled", atMs, "by request");
        }),
    },
    retention: {
      dropBehind: async (...range) => retention.dropBehind(...range),
      nextOverfull: async (...range) => retention.nextOverfull(...range),
      failSurplus: async (...queue) => retention.failSurplus(...queue),
      dropRemoved: async () => retention.dropRemoved(),
    },
  };
}
