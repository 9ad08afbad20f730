/** Deliveries as rows: what waits in the queue of a webhook, and what became of the rest. */
import type { Database } from "./database.ts";

export type NewDelivery = {
  readonly webhook: number;
  /** Of the webhook-id header; the same for ever. */
  readonly id: string;
  /** Of the event. */
  readonly sequence: number;
  readonly event: string;
  /** The exact text that is sent and signed. */
  readonly body: string;
};

/** A delivery that waits, with what its webhook says at present. */
export type Waiting = {
  readonly number: number;
  readonly id: string;
  readonly body: string;
  /** Made so far. */
  readonly attempts: number;
  readonly target: string;
  readonly token: string;
};

/** What the last attempt brought: an answer, or the reason why there is none. */
export type Outcome = { readonly status?: number; readonly reason?: string };

export type DeliveryState = "pending" | "delivered" | "failed" | "cancelled";

/** One line of the delivery log. */
export type DeliveryRecord = {
  readonly number: number;
  readonly id: string;
  readonly sequence: number;
  readonly event: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAttemptMs: number;
  readonly createdMs: number;
  readonly finishedMs: number | null;
  readonly status: number | null;
  readonly reason: string | null;
};

/** Which deliveries the table may drop. */
export type DeliveryRetention = {
  /** Finished ones: how long, and how many. */
  readonly maxAgeMs: number;
  readonly maxFinished: number;
  /** Waiting ones of one webhook; the oldest beyond fail. */
  readonly maxWaiting: number;
};

export type DeliveryStore = {
  /** A delivery that exists already stays as it is. */
  insert(delivery: NewDelivery, atMs: number): void;
  /** The oldest one that was never tried. */
  nextFirst(webhook: number): Waiting | undefined;
  /** The retry that is overdue the longest. */
  nextRetry(webhook: number, nowMs: number): Waiting | undefined;
  /** When the next retry is due. */
  nextRetryMs(webhook: number): number | undefined;
  /** The attempt was the last one. `false` when the delivery was cancelled meanwhile: nothing changes. */
  finish(number: number, state: "delivered" | "failed", outcome: Outcome, atMs: number): boolean;
  /** The attempt failed, and there will be another. `false` as above. */
  postpone(number: number, nextAttemptMs: number, outcome: Outcome): boolean;
  /** Drops everything that waits. */
  cancel(webhook: number, reason: string, atMs: number): void;
  /** Newest first. */
  log(webhook: number, limit: number): DeliveryRecord[];
  /** Drops some of what retention gives up. */
  prune(retention: DeliveryRetention, atMs: number): void;
};

/** Rows dropped at once: a few milliseconds of the writer. */
const PRUNED_AT_ONCE = 2_000;

const WAITING = `SELECT number, deliveries.id, body, attempts, target, token
  FROM deliveries JOIN webhooks ON webhooks.id = webhook WHERE webhook = ? AND state = 'pending'`;

export function createDeliveryStore(database: Database): DeliveryStore {
  const insert = database.prepare(
    `INSERT INTO deliveries (webhook, id, sequence, event, body, state, next_attempt_ms, created_ms)
     VALUES (?, ?, ?, ?, ?, 'pending', ?, ?) ON CONFLICT (webhook, id) DO NOTHING`,
  );
  const nextFirst = database.prepare<Waiting>(`${WAITING} AND attempts = 0 ORDER BY number LIMIT 1`);
  const nextRetry = database.prepare<Waiting>(
    `${WAITING} AND attempts > 0 AND next_attempt_ms <= ? ORDER BY next_attempt_ms LIMIT 1`,
  );
  const nextRetryMs = database.prepare<{ due: number | null }>(
    "SELECT min(next_attempt_ms) AS due FROM deliveries WHERE webhook = ? AND state = 'pending' AND attempts > 0",
  );
  const finish = database.prepare(
    `UPDATE deliveries SET state = ?, attempts = attempts + 1, status = ?, reason = ?, finished_ms = ?
     WHERE number = ? AND state = 'pending'`,
  );
  const postpone = database.prepare(
    `UPDATE deliveries SET attempts = attempts + 1, next_attempt_ms = ?, status = ?, reason = ?
     WHERE number = ? AND state = 'pending'`,
  );
  const cancel = database.prepare(
    `UPDATE deliveries SET state = 'cancelled', reason = ?, finished_ms = ?
     WHERE webhook = ? AND state = 'pending'`,
  );
  const log = database.prepare<DeliveryRecord>(
    `SELECT number, id, sequence, event, state, attempts, next_attempt_ms AS nextAttemptMs,
     created_ms AS createdMs, finished_ms AS finishedMs, status, reason
     FROM deliveries WHERE webhook = ? ORDER BY number DESC LIMIT ?`,
  );
  const removeOlder = database.prepare(
    `DELETE FROM deliveries WHERE number IN
     (SELECT number FROM deliveries WHERE finished_ms < ? ORDER BY finished_ms LIMIT ${PRUNED_AT_ONCE})`,
  );
  const removeSurplus = database.prepare(
    `DELETE FROM deliveries WHERE number IN (SELECT number FROM deliveries
     WHERE finished_ms IS NOT NULL ORDER BY finished_ms DESC, number DESC LIMIT ${PRUNED_AT_ONCE} OFFSET ?)`,
  );
  const overfull = database.prepare<{ webhook: number; total: number }>(
    `SELECT webhook, count(*) AS total FROM deliveries WHERE state = 'pending' AND attempts = 0
     GROUP BY webhook HAVING total > ?`,
  );
  const failOldest = database.prepare(
    `UPDATE deliveries SET state = 'failed', reason = 'the queue was full', finished_ms = ? WHERE number IN
     (SELECT number FROM deliveries WHERE webhook = ? AND state = 'pending' AND attempts = 0 ORDER BY number LIMIT ?)`,
  );

  return {
    insert: ({ webhook, id, sequence, event, body }, atMs) =>
      void insert.run(webhook, id, sequence, event, body, atMs, atMs),
    nextFirst: (webhook) => nextFirst.get(webhook),
    nextRetry: (webhook, nowMs) => nextRetry.get(webhook, nowMs),
    nextRetryMs: (webhook) => nextRetryMs.get(webhook)?.due ?? undefined,
    finish: (number, state, { status, reason }, atMs) =>
      finish.run(state, status ?? null, reason ?? null, atMs, number).changes > 0,
    postpone: (number, nextAttemptMs, { status, reason }) =>
      postpone.run(nextAttemptMs, status ?? null, reason ?? null, number).changes > 0,
    cancel: (webhook, reason, atMs) => void cancel.run(reason, atMs, webhook),
    log: (webhook, limit) => log.all(webhook, limit),
    prune({ maxAgeMs, maxFinished, maxWaiting }, atMs) {
      database.transaction(() => {
        removeOlder.run(atMs - maxAgeMs);
        removeSurplus.run(maxFinished);
        for (const { webhook, total } of overfull.all(maxWaiting)) {
          failOldest.run(atMs, webhook, Math.min(total - maxWaiting, PRUNED_AT_ONCE));
        }
      });
    },
  };
}
