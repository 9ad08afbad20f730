/**
 * Restarts the queue of a webhook: its retries become first attempts again, in order and with the full schedule of retries.
 * Works on a range at a time, so that no other transaction waits for long; the queue sends no deliveries until the last range.
 * Steps lock the queue first, as those of `finishing-queues.ts` do.
 */
import type { Postgres, Transaction } from "../../../postgres/connection.ts";
import type { FinishStep } from "../../delivery-queue.ts";
import { entriesOf } from "../lanes.ts";
import { lockQueue } from "../queue-changes.ts";
import { SHARDS } from "../shards.ts";

/** Maximum rows to change per lane and step: some milliseconds. */
const ROWS_AT_ONCE = 1_000;

/** Restarts the queue; `restartStep` processes the rest. */
export async function beginRestart(transaction: Transaction, webhook: number): Promise<void> {
  await transaction.change(
    `INSERT INTO restarting_queues SELECT id FROM webhooks WHERE id = $1 FOR KEY SHARE
     ON CONFLICT (webhook) DO NOTHING`,
    [webhook],
  );
  if (await lockQueue(transaction, webhook)) await restartRows(transaction, webhook);
}

/**
 * Continues with a queue of the shards.
 *
 * @returns its webhook once the queue is complete
 */
export async function restartStep(postgres: Postgres, shards: readonly number[]): Promise<FinishStep> {
  const [row] = await postgres.query<{ webhook: string }>(
    `SELECT webhook FROM restarting_queues WHERE (webhook % ${SHARDS})::integer = ANY ($1) ORDER BY webhook LIMIT 1`,
    [shards],
  );
  if (!row) return { more: false };
  const webhook = Number(row.webhook);
  const isComplete = await postgres.transaction("READ WRITE", async (transaction) => {
    await lockQueue(transaction, webhook);
    return restartRows(transaction, webhook);
  });
  return { more: true, ...(isComplete && { webhook }) };
}

/** Restarts rows; returns `false` if some remain. */
async function restartRows({ query, change }: Transaction, webhook: number): Promise<boolean> {
  const found: number[] = [];
  for (const sql of RESTART_LANES) {
    const [row] = await query<{ rows: number }>(sql, [webhook]);
    found.push(row?.rows ?? 0);
  }
  if (found.includes(ROWS_AT_ONCE)) return false;
  await change("DELETE FROM restarting_queues WHERE webhook = $1", [webhook]);
  return true;
}

/** See `FINISH_LANES` of `finishing-queues.ts`. */
const RESTART_LANES = [
  entriesOf("retry", "$1"),
  `${entriesOf("replay", "$1")} AND next_attempt_ms IS NOT NULL`,
].map(
  (entries) => `WITH found AS MATERIALIZED (
    SELECT number FROM ${entries} LIMIT ${ROWS_AT_ONCE}
  ), locked AS MATERIALIZED (
    SELECT number FROM deliveries WHERE number IN (SELECT number FROM found) AND state = 'pending'
    ORDER BY number FOR UPDATE
  ), restarted AS (
    UPDATE deliveries SET next_attempt_ms = NULL, attempts = 0, reason = NULL
    FROM locked WHERE deliveries.number = locked.number
  ) SELECT count(*)::integer AS rows FROM found`,
);
