/** The rows of deliveries as a queue: pending deliveries of each webhook with their contents, and the outcome of each attempt. */

import type { Database } from "../../store/engine/database.ts";
import type { DeliveryQueue, QueueState } from "../delivery-queue.ts";
import { type Attempt, REVERTED_REASON, type WaitingDelivery } from "../model/deliveries.ts";
import { PLAIN_SECRETS, type SecretCipher, type SecretRow, secretsFromRow } from "../secrets.ts";
import { MESSAGE_COLUMNS, type MessageRow, messageFromRow } from "../storage/delivery-rows.ts";
import { IS_ON } from "../storage/lanes.ts";
import type { Sync } from "./sql.ts";

type WaitingRow = Omit<WaitingDelivery, "message" | "secrets" | "proofDepth"> &
  MessageRow &
  SecretRow & { proof_depth: number | null };

type QueueStateRow = { strict: number; retry_ms: number | null; retraction: number };

export type DeliveryStore = Pick<Sync<DeliveryQueue>, "nextFirst" | "nextRetry" | "nextReplayed"> & {
  state(webhook: number, latestMs?: number): QueueState;
  /** Records an attempt, unless the delivery was dropped. */
  recordAttempt(number: number, attempt: Attempt): void;
  /** Finishes a delivery after its last attempt; returns `false` if it was cancelled meanwhile: nothing changes. */
  finish(number: number, state: "delivered" | "failed", atMs: number, reason?: string): boolean;
  /**
   * Schedules a retry after a failed attempt, unless the fact was retracted meanwhile: then the delivery is cancelled.
   * Returns `false` if the delivery was cancelled meanwhile.
   */
  postpone(number: number, nextAttemptMs: number, atMs: number, reason: string): boolean;
};

/**
 * Returns SQL for the pending deliveries of a webhook in one of its queues; conditions may follow. The planner does not know
 * how few are pending: without the named index it would read all deliveries that the webhook ever had.
 */
const waitingIn = (queue: "first" | "retry" | "replay"): string =>
  `SELECT deliveries.number, attempts, target, token, previous_token, previous_until_ms, replay, next_attempt_ms,
  iif(with_proof, confirmations, NULL) AS proof_depth,
  ${MESSAGE_COLUMNS}
  FROM deliveries INDEXED BY deliveries_${queue} JOIN webhooks ON webhooks.id = webhook AND ${IS_ON} JOIN contents ON contents.number = content
  WHERE webhook = +? AND state = 'pending'`;

const RETRIES = `deliveries INDEXED BY deliveries_retry
  WHERE webhook = webhooks.id AND state = 'pending' AND next_attempt_ms IS NOT NULL AND replay IS NULL`;

/** @param cipher cipher of the webhooks' secrets */
export function createDeliveryStore(database: Database, cipher: SecretCipher = PLAIN_SECRETS): DeliveryStore {
  return { ...createPendingReads(database, cipher), ...createAttempts(database) };
}

function createPendingReads(
  database: Database,
  cipher: SecretCipher,
): Pick<DeliveryStore, "nextFirst" | "nextRetry" | "nextReplayed" | "state"> {
  const nextFirst = database.prepare<WaitingRow>(
    `${waitingIn("first")} AND next_attempt_ms IS NULL AND replay IS NULL AND deliveries.number > ?
     ORDER BY deliveries.number LIMIT +?`,
  );
  const [dueRetry, retryBehind] = ["<=", ">"].map((relation) =>
    database.prepare<WaitingRow>(
      `${waitingIn("retry")} AND next_attempt_ms IS NOT NULL AND replay IS NULL AND next_attempt_ms ${relation} ?
       ORDER BY next_attempt_ms LIMIT 1`,
    ),
  );
  const nextReplayed = database.prepare<WaitingRow & { replay: number; next_attempt_ms: number | null }>(
    `${waitingIn("replay")} AND replay IS NOT NULL AND replay > ? ORDER BY replay LIMIT 1`,
  );
  // A webhook that is off has no due deliveries.
  const state = database.prepare<QueueStateRow>(
    `SELECT strict,
     iif(${IS_ON}, iif(EXISTS (SELECT 1 FROM ${RETRIES} AND next_attempt_ms > ?), 0,
       (SELECT min(next_attempt_ms) FROM ${RETRIES})), NULL) AS retry_ms,
     EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_retractions WHERE webhook = webhooks.id
       AND state = 'pending' AND next_attempt_ms IS NOT NULL AND reverts IS NOT NULL) AS retraction
     FROM webhooks WHERE id = +?`,
  );
  return {
    nextFirst: (ranges) =>
      ranges.map(({ webhook, after, limit }) =>
        nextFirst.all(webhook, after, limit).map((row) => waitingFromRow(row, cipher)),
      ),
    nextRetry(webhook, nowMs, latestMs = Number.MAX_SAFE_INTEGER) {
      const row = dueRetry?.get(webhook, nowMs) ?? retryBehind?.get(webhook, latestMs);
      return row && waitingFromRow(row, cipher);
    },
    nextReplayed(webhook, after) {
      const row = nextReplayed.get(webhook, after);
      return (
        row && {
          ...waitingFromRow(row, cipher),
          position: row.replay,
          ...(row.next_attempt_ms !== null && { nextAttemptMs: row.next_attempt_ms }),
        }
      );
    },
    state(webhook, latestMs = Number.MAX_SAFE_INTEGER) {
      const row = state.get(latestMs, webhook);
      return {
        isStrict: row?.strict === 1,
        retryMs: row?.retry_ms ?? undefined,
        hasRetraction: row?.retraction === 1,
      };
    },
  };
}

/** Creates the functions that record an attempt and its consequences. */
function createAttempts(database: Database): Pick<DeliveryStore, "recordAttempt" | "finish" | "postpone"> {
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
    recordAttempt: (number, { startedMs, durationMs, status, response, error }) =>
      void recordAttempt.run(startedMs, durationMs, status ?? null, response ?? null, error ?? null, number),
    finish: (number, state, atMs, reason) => finish.run(state, reason ?? null, atMs, number).changes > 0,
    postpone: (number, nextAttemptMs, atMs, reason) =>
      postpone.run(nextAttemptMs, reason, number).changes > 0 ||
      cancel.run(REVERTED_REASON, atMs, number).changes > 0,
  };
}

function waitingFromRow(row: WaitingRow, cipher: SecretCipher): WaitingDelivery {
  const { number, attempts, target } = row;
  const secrets = secretsFromRow(Number(row.webhook), row, cipher);
  return {
    ...{ number, message: messageFromRow(row), attempts, target, secrets },
    ...(row.proof_depth !== null && { proofDepth: row.proof_depth }),
  };
}
