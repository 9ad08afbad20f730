/**
 * The delivery queue in SQLite. The calls are synchronous: their promises are settled when they return, so that a run of the
 * dispatcher ends in the tick of the event loop in which it started.
 */
import type { Database } from "../../store/engine/database.ts";
import {
  type AttemptOutcome,
  createSoleOwner,
  type DeliveryQueue,
  type RecordedOutcome,
} from "../delivery-queue.ts";
import { type Attempt, REVERTED_REASON } from "../model/deliveries.ts";
import type { SecretCipher } from "../secrets.ts";
import { DeliveryLogRows } from "../storage/delivery-log.ts";
import { countAttempts } from "../storage/health.ts";
import { createPendingReads } from "../storage/pending.ts";
import { recordPing } from "../storage/pings.ts";
import { finishStep, suspendWebhook } from "../storage/queues.ts";
import { ReplayRows } from "../storage/replays.ts";
import { RetentionSteps } from "../storage/retention.ts";
import { createSqliteStore, runNow, type Sync, sqlOf, toPort } from "./sql.ts";

/**
 * @param cipher cipher of the webhooks' secrets
 * @param epoch epoch of this process as the owner of all webhooks
 */
export function createSqliteDeliveryQueue(
  database: Database,
  cipher: SecretCipher,
  epoch: number,
): DeliveryQueue {
  const store = createSqliteStore(database);
  return {
    ...createPendingReads(store, cipher, () => []),
    ...toPort<Pick<DeliveryQueue, "record">>({ record: createRecord(database) }),
    recordPing: (ping) => store.write((sql) => recordPing(sql, ping)),
    finishStep: (atMs) => finishStep(store, [], atMs),
    ownership: createSoleOwner(epoch),
    log: new DeliveryLogRows(store),
    replays: new ReplayRows(store),
    retention: new RetentionSteps(store),
  };
}

const NOT_CURRENT: RecordedOutcome = { isCurrent: false, failures: 0 };

function createRecord(database: Database): Sync<DeliveryQueue>["record"] {
  const deliveries = createAttempts(database);
  const sql = sqlOf(database);
  const failing = createFailures(database);
  const targetOf = database.prepare<{ target: string }>("SELECT target FROM webhooks WHERE id = ?");

  /** Records an attempt, and its consequences for the delivery and the webhook. */
  function record({ webhook, delivery, target, attempt, atMs, failure }: AttemptOutcome): RecordedOutcome {
    deliveries.recordAttempt(delivery, attempt);
    if (target !== undefined && targetOf.get(webhook)?.target !== target) return NOT_CURRENT;
    if (!failure) {
      if (!deliveries.finish(delivery, "delivered", atMs)) return NOT_CURRENT;
      failing.recordSuccess(webhook);
      return { isCurrent: true, failures: 0 };
    }
    const { reason, retryMs, suspension } = failure;
    const isCurrent =
      retryMs === undefined
        ? deliveries.finish(delivery, "failed", atMs, reason)
        : deliveries.postpone(delivery, retryMs, atMs, reason);
    if (!isCurrent) return NOT_CURRENT;
    const { failures, failingSinceMs } = failing.recordFailure(webhook, atMs);
    if (failingSinceMs >= (suspension.ifFailingBeforeMs ?? Number.POSITIVE_INFINITY)) {
      return { isCurrent, failures };
    }
    runNow(suspendWebhook(sql, webhook, suspension.reason, atMs));
    return { isCurrent, failures, suspended: suspension.reason };
  }

  return (outcomes) =>
    database.transaction(() => {
      const recorded = outcomes.map(record);
      runNow(
        countAttempts(
          sql,
          outcomes.filter((_outcome, index) => recorded[index]?.isCurrent),
        ),
      );
      return recorded;
    });
}

/** Number of consecutive failures, and the time of the first. */
type Failures = { readonly failures: number; readonly failingSinceMs: number };

/** Creates the functions that count the consecutive failures of webhooks. */
export function createFailures(database: Database) {
  const recordSuccess = database.prepare(
    "UPDATE webhooks SET failures = 0, failing_since_ms = NULL WHERE id = ? AND failures > 0",
  );
  const recordFailure = database.prepare<Failures>(
    `UPDATE webhooks SET failures = failures + 1, failing_since_ms = coalesce(failing_since_ms, ?) WHERE id = ?
     RETURNING failures, failing_since_ms AS failingSinceMs`,
  );
  return {
    recordSuccess: (id: number) => void recordSuccess.run(id),
    // The webhook may have been deleted during the attempt.
    recordFailure: (id: number, atMs: number) =>
      recordFailure.get(atMs, id) ?? { failures: 1, failingSinceMs: atMs },
  };
}

/** Creates the functions that record an attempt and its consequences. */
export function createAttempts(database: Database) {
  const recordAttempt = database.prepare(
    `INSERT INTO attempts
     SELECT number, (SELECT coalesce(max(attempt), 0) FROM attempts WHERE delivery = number) + 1, ?, ?, ?, ?, ?
     FROM deliveries WHERE number = ?`,
  );
  const finish = database.prepare(
    `UPDATE deliveries SET state = ?, attempts = attempts + 1, next_attempt_ms = NULL, reason = ?, finished_ms = ?,
     target_number = coalesce((SELECT target_number FROM webhooks WHERE id = webhook), target_number)
     WHERE number = ? AND state = 'pending'`,
  );
  // A replayed delivery keeps its position in strict order only; otherwise it joins the other retries.
  const postpone = database.prepare(
    `UPDATE deliveries SET attempts = attempts + 1, next_attempt_ms = ?, reason = ?,
     replay = iif((SELECT strict FROM webhooks WHERE id = webhook), replay, NULL)
     WHERE number = ? AND state = 'pending' AND is_retracted IS NOT 1`,
  );
  const cancel = database.prepare(
    `UPDATE deliveries SET state = 'cancelled', attempts = attempts + 1, next_attempt_ms = NULL, reason = ?,
     finished_ms = ? WHERE number = ? AND state = 'pending'`,
  );
  return {
    /** Records an attempt, unless the delivery was dropped. */
    recordAttempt: (number: number, { startedMs, durationMs, status, response, error }: Attempt) =>
      void recordAttempt.run(startedMs, durationMs, status ?? null, response ?? null, error ?? null, number),
    /** Finishes a delivery after its last attempt; returns `false` if it was cancelled meanwhile: nothing changes. */
    finish: (number: number, state: "delivered" | "failed", atMs: number, reason?: string) =>
      finish.run(state, reason ?? null, atMs, number).changes > 0,
    /**
     * Schedules a retry after a failed attempt, unless the fact was retracted meanwhile: then the delivery is cancelled.
     * Returns `false` if the delivery was cancelled meanwhile.
     */
    postpone: (number: number, nextAttemptMs: number, atMs: number, reason: string) =>
      postpone.run(nextAttemptMs, reason, number).changes > 0 ||
      cancel.run(REVERTED_REASON, atMs, number).changes > 0,
  };
}
