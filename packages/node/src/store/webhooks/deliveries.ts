/** Deliveries as a queue: what waits for its turn in each webhook, and what an attempt does to it. */
import type { Database } from "../engine/database.ts";
import { type Content, type ContentRow, contentFromRow } from "./contents.ts";
import { OPEN_SEAL, type Seal } from "./encryption.ts";
import { type SecretRow, type Secrets, secretsFromRow } from "./secrets.ts";

export type NewDelivery = {
  readonly webhook: number;
  /** Of the webhook-id header; the same for ever. */
  readonly id: string;
  /** Among those of the webhook; a ping has none. */
  readonly sequence?: number;
  readonly event: string;
  /** Of the block that caused the event. */
  readonly height?: number;
  readonly blockId?: string;
  /** It tells a fact of the block, to be taken back when the block is undone. */
  readonly stands?: boolean;
  /** Id of the delivery that it takes back. */
  readonly reverts?: string;
  /** Place in the queue of what is told again (`ReplayQueue`), if it belongs there. */
  readonly replay?: number;
  /** Number of what it tells (`ContentStore`). */
  readonly content: number;
};

/** All that the body of a message is made of, whenever it is sent. */
export type Letter = Pick<
  NewDelivery,
  "webhook" | "id" | "sequence" | "event" | "height" | "blockId" | "reverts"
> & {
  /** When the delivery was made, milliseconds since 1970. */
  readonly createdMs: number;
  readonly content: Content;
};

/** A delivery that waits for a webhook that is enabled and not suspended, with what its webhook says at present. */
export type Waiting = {
  readonly number: number;
  readonly letter: Letter;
  /** Made since the delivery was put into the queue. */
  readonly attempts: number;
  readonly target: string;
  readonly secrets: Secrets;
};

export type WaitingRow = Omit<Waiting, "letter" | "secrets"> & LetterRow & SecretRow;

export type LetterRow = {
  webhook: number;
  id: string;
  sequence: number | null;
  event: string;
  height: number | null;
  block_id: string | null;
  reverts: string | null;
  created_ms: number;
} & ContentRow;

/** The columns of a letter, of a row of deliveries joined by `WITH_CONTENT`. */
export const LETTER =
  "webhook, deliveries.id, sequence, deliveries.event, height, block_id, reverts, created_ms, data, truncated, link";
export const WITH_CONTENT = "JOIN contents ON contents.number = content";

/** One call: an answer, or the code of the reason why there is none. */
export type Attempt = {
  readonly startedMs: number;
  readonly durationMs: number;
  readonly status?: number;
  /** The beginning of the answer's body, as text. */
  readonly answer?: string;
  readonly error?: string;
};

export type DeliveryState = "pending" | "delivered" | "failed" | "cancelled";

export type DeliveryStore = {
  /** Whether the webhook has a delivery of this id. */
  has(webhook: number, id: string): boolean;
  /** Answers the number. */
  insert(delivery: NewDelivery, atMs: number): number;
  /** The oldest ones behind a number that were never tried. */
  nextFirsts(webhook: number, after: number, limit: number): Waiting[];
  /** The retry that is overdue the longest. */
  nextRetry(webhook: number, nowMs: number): Waiting | undefined;
  /** When the next retry is due. */
  nextRetryMs(webhook: number): number | undefined;
  /** Whether one of the retries takes back another delivery. */
  isReverting(webhook: number): boolean;
  /** Keeps what an attempt brought, unless the delivery is gone. */
  recordAttempt(number: number, attempt: Attempt): void;
  /** The attempt was the last one. `false` when the delivery was cancelled meanwhile: nothing changes. */
  finish(number: number, state: "delivered" | "failed", atMs: number, reason?: string): boolean;
  /**
   * The attempt failed, and there will be another, unless the fact has been undone meanwhile: then the delivery is
   * cancelled. `false` as above.
   */
  postpone(number: number, nextAttemptMs: number, atMs: number, reason: string): boolean;
};

/** Reason of a delivery whose fact is not true any more. */
export const UNDONE = "its block was undone";

/** Of a webhook to which deliveries are sent: what is left of a queue that ends goes first. */
const IS_ON =
  "enabled = 1 AND suspended IS NULL AND NOT EXISTS (SELECT 1 FROM endings WHERE webhook = webhooks.id)";

/**
 * What waits for a webhook in one of its queues; conditions may follow. The planner does not know how few deliveries
 * wait: unless it is told, it walks over all that the webhook ever had.
 */
export const waitingIn = (queue: "first" | "retry" | "replay"): string =>
  `SELECT deliveries.number, attempts, target, token, previous_token, previous_until_ms, replay, next_attempt_ms,
  ${LETTER}
  FROM deliveries INDEXED BY deliveries_${queue} JOIN webhooks ON webhooks.id = webhook AND ${IS_ON} ${WITH_CONTENT}
  WHERE webhook = ? AND state = 'pending'`;

/** @param seal of the webhooks' secrets */
export function createDeliveryStore(database: Database, seal: Seal = OPEN_SEAL): DeliveryStore {
  const has = database.prepare("SELECT 1 FROM deliveries WHERE id = ? AND webhook = ?");
  const insert = database.prepare(
    `INSERT INTO deliveries
     (webhook, id, sequence, event, height, block_id, stands, reverts, replay, content, state, created_ms,
      target_number)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?,
       coalesce((SELECT target_number FROM webhooks WHERE id = ?), 0))`,
  );
  const nextFirsts = database.prepare<WaitingRow>(
    `${waitingIn("first")} AND next_attempt_ms IS NULL AND replay IS NULL AND deliveries.number > ?
     ORDER BY deliveries.number LIMIT ?`,
  );
  const nextRetry = database.prepare<WaitingRow>(
    `${waitingIn("retry")} AND next_attempt_ms IS NOT NULL AND replay IS NULL AND next_attempt_ms <= ?
     ORDER BY next_attempt_ms LIMIT 1`,
  );
  // Nothing is due for a webhook that is off, or was removed.
  const nextRetryMs = database.prepare<{ due: number | null }>(
    `SELECT min(next_attempt_ms) AS due FROM deliveries INDEXED BY deliveries_retry
     WHERE webhook = ? AND state = 'pending'
     AND next_attempt_ms IS NOT NULL AND replay IS NULL
     AND EXISTS (SELECT 1 FROM webhooks WHERE id = deliveries.webhook AND ${IS_ON})`,
  );
  const isReverting = database.prepare(
    `SELECT 1 FROM deliveries INDEXED BY deliveries_reverting
     WHERE webhook = ? AND state = 'pending' AND next_attempt_ms IS NOT NULL AND reverts IS NOT NULL LIMIT 1`,
  );
  const recordAttempt = database.prepare(
    `INSERT INTO attempts
     SELECT number, (SELECT coalesce(max(attempt), 0) FROM attempts WHERE delivery = number) + 1, ?, ?, ?, ?, ?
     FROM deliveries WHERE number = ?`,
  );
  const finish = database.prepare(
    `UPDATE deliveries SET state = ?, attempts = attempts + 1, next_attempt_ms = NULL, reason = ?,
     finished_ms = ? WHERE number = ? AND state = 'pending'`,
  );
  // What is told again keeps its place in strict order only; otherwise it joins the other retries.
  const postpone = database.prepare(
    `UPDATE deliveries SET attempts = attempts + 1, next_attempt_ms = ?, reason = ?,
     replay = iif((SELECT strict FROM webhooks WHERE id = webhook), replay, NULL)
     WHERE number = ? AND state = 'pending' AND stands IS NOT 0`,
  );
  const giveUp = database.prepare(
    `UPDATE deliveries SET state = 'cancelled', attempts = attempts + 1, next_attempt_ms = NULL, reason = ?,
     finished_ms = ? WHERE number = ? AND state = 'pending'`,
  );

  return {
    has: (webhook, id) => has.get(id, webhook) !== undefined,
    insert: ({ webhook, id, sequence, event, height, blockId, stands, reverts, replay, content }, atMs) =>
      Number(
        insert.run(
          webhook,
          id,
          sequence ?? null,
          event,
          height ?? null,
          blockId ?? null,
          stands ? 1 : null,
          reverts ?? null,
          replay ?? null,
          content,
          atMs,
          webhook,
        ).lastInsertRowid,
      ),
    nextFirsts: (webhook, after, limit) =>
      nextFirsts.all(webhook, after, limit).map((row) => waitingFromRow(row, seal)),
    nextRetry(webhook, nowMs) {
      const row = nextRetry.get(webhook, nowMs);
      return row && waitingFromRow(row, seal);
    },
    nextRetryMs: (webhook) => nextRetryMs.get(webhook)?.due ?? undefined,
    isReverting: (webhook) => isReverting.get(webhook) !== undefined,
    recordAttempt: (number, { startedMs, durationMs, status, answer, error }) =>
      void recordAttempt.run(startedMs, durationMs, status ?? null, answer ?? null, error ?? null, number),
    finish: (number, state, atMs, reason) => finish.run(state, reason ?? null, atMs, number).changes > 0,
    postpone: (number, nextAttemptMs, atMs, reason) =>
      postpone.run(nextAttemptMs, reason, number).changes > 0 || giveUp.run(UNDONE, atMs, number).changes > 0,
  };
}

export function waitingFromRow(row: WaitingRow, seal: Seal): Waiting {
  const { number, attempts, target } = row;
  const secrets = secretsFromRow(row.webhook, row, seal);
  return { number, letter: letterFromRow(row), attempts, target, secrets };
}

export const letterFromRow = (row: LetterRow): Letter => ({
  webhook: row.webhook,
  id: row.id,
  ...(row.sequence !== null && { sequence: row.sequence }),
  event: row.event,
  ...(row.height !== null && { height: row.height }),
  ...(row.block_id !== null && { blockId: row.block_id }),
  ...(row.reverts !== null && { reverts: row.reverts }),
  createdMs: row.created_ms,
  content: contentFromRow(row),
});
