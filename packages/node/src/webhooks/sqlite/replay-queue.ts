/** The replay lane of a webhook: a second queue with its own positions. */
import type { Database } from "../../store/engine/database.ts";
import type { ReplayedDelivery } from "../model/deliveries.ts";
import { PLAIN_SECRETS, type SecretCipher } from "../secrets/encryption.ts";
import { type WaitingRow, waitingFromRow, waitingIn } from "./deliveries.ts";

export type ReplayQueue = {
  /** Returns the number of pending deliveries of the webhook. */
  waiting(webhook: number): number;
  /** Returns the first delivery after a position. */
  next(webhook: number, after: number): ReplayedDelivery | undefined;
  /** Puts a finished delivery into the lane, if its number is at most `upTo`. */
  putAgain(webhook: number, delivery: { id: string; position: number; upTo: number }): boolean;
  /** Cancels all pending deliveries. */
  cancel(webhook: number, reason: string, atMs: number): void;
};

/** @param cipher cipher of the webhooks' secrets */
export function createReplayQueue(database: Database, cipher: SecretCipher = PLAIN_SECRETS): ReplayQueue {
  const waiting = database.prepare<{ total: number }>(
    "SELECT replaying AS total FROM queues WHERE webhook = ?",
  );
  const next = database.prepare<WaitingRow & { replay: number; next_attempt_ms: number | null }>(
    `${waitingIn("replay")} AND replay IS NOT NULL AND replay > ? ORDER BY replay LIMIT 1`,
  );
  const putAgain = database.prepare(
    `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = NULL, finished_ms = NULL, reason = NULL,
     replay = ?, target_number = coalesce((SELECT target_number FROM webhooks WHERE id = webhook), target_number)
     WHERE webhook = ? AND id = ? AND number <= ? AND state <> 'pending'`,
  );
  const cancel = database.prepare(
    `UPDATE deliveries SET state = 'cancelled', next_attempt_ms = NULL, reason = ?, finished_ms = ?
     WHERE webhook = +? AND state = 'pending' AND replay IS NOT NULL`,
  );
  return {
    waiting: (webhook) => waiting.get(webhook)?.total ?? 0,
    next(webhook, after) {
      const row = next.get(webhook, after);
      return (
        row && {
          ...waitingFromRow(row, cipher),
          position: row.replay,
          ...(row.next_attempt_ms !== null && { nextAttemptMs: row.next_attempt_ms }),
        }
      );
    },
    putAgain: (webhook, { id, position, upTo }) => putAgain.run(position, webhook, id, upTo).changes > 0,
    cancel: (webhook, reason, atMs) => void cancel.run(reason, atMs, webhook),
  };
}
