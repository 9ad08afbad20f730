/**
 * Changes of whole queues: all pending deliveries are finished without being sent, or retries become first attempts again, with the
 * full schedule of retries. Works on a range at a time, so that no other transaction waits for long; the queue sends no deliveries
 * until the last range.
 *
 * Steps lock the queue first. A former owner of the webhook can therefore repeat a step without harm.
 */
import type { Postgres, Transaction } from "../../postgres/connection.ts";
import type { FinishStep } from "../delivery-queue.ts";
import type { Finish } from "../model/deliveries.ts";
import { storableText } from "./contents.ts";
import { entriesOf, LANES } from "./lanes.ts";
import { lockQueue } from "./queue-changes.ts";
import { endReplay } from "./replays.ts";
import { SHARDS } from "./shards.ts";
import { bumpVersion } from "./webhook-rows.ts";

/** Maximum rows to change per lane and step: some milliseconds. */
const ROWS_AT_ONCE = 1_000;

type FinishRow = {
  webhook: string;
  up_to: string;
  unconfirmed_up_to: string;
  state: Finish["state"];
  reason: string;
  with_retractions: boolean;
};

/** Leaves all work to `finishStep`. */
export async function scheduleFinish(
  { change }: Transaction,
  webhook: number,
  { state, reason, withRetractions = false }: Finish,
): Promise<void> {
  await change(
    `INSERT INTO finishing_queues (webhook, up_to, unconfirmed_up_to, state, reason, with_retractions)
     SELECT id, (SELECT coalesce(max(number), 0) FROM deliveries WHERE webhook = $1),
       (SELECT coalesce(max(sequence), 0) FROM unconfirmed_events WHERE webhook = $1), $2, $3, $4
     FROM webhooks WHERE id = $1 FOR KEY SHARE
     ON CONFLICT (webhook) DO UPDATE SET up_to = EXCLUDED.up_to, unconfirmed_up_to = EXCLUDED.unconfirmed_up_to,
       state = EXCLUDED.state, reason = EXCLUDED.reason,
       with_retractions = finishing_queues.with_retractions OR EXCLUDED.with_retractions`,
    [webhook, state, storableText(reason), withRetractions],
  );
}

/** Finishes the pending deliveries and unconfirmed events; `finishStep` processes the rest. */
export async function beginFinish(
  transaction: Transaction,
  webhook: number,
  finish: Finish,
  atMs: number,
): Promise<void> {
  if (!(await lockQueue(transaction, webhook))) return;
  await scheduleFinish(transaction, webhook, finish);
  await finishRows(transaction, webhook, atMs);
}

/**
 * Continues with an unfinished queue of the shards.
 *
 * @returns its webhook once the queue is finished
 */
export async function finishStep(
  postgres: Postgres,
  shards: readonly number[],
  atMs: number,
): Promise<FinishStep> {
  const [row] = await postgres.query<{ webhook: string }>(
    `SELECT webhook FROM finishing_queues WHERE (webhook % ${SHARDS})::integer = ANY ($1) ORDER BY webhook LIMIT 1`,
    [shards],
  );
  if (!row) return { more: false };
  const webhook = Number(row.webhook);
  const isFinished = await postgres.transaction("READ WRITE", async (transaction) => {
    await lockQueue(transaction, webhook);
    return finishRows(transaction, webhook, atMs);
  });
  return { more: true, ...(isFinished && { webhook }) };
}

/** Finishes rows; returns `false` if some remain. */
async function finishRows(transaction: Transaction, webhook: number, atMs: number): Promise<boolean> {
  const { query, change } = transaction;
  const [row] = await query<FinishRow>("SELECT * FROM finishing_queues WHERE webhook = $1", [webhook]);
  if (!row) return true;
  const { up_to, unconfirmed_up_to, state, reason, with_retractions } = row;
  const values = [webhook, up_to, with_retractions, state, reason, atMs];
  // Statements are sent without waiting for earlier ones, and run in this order.
  const found = await Promise.all([
    ...FINISH_LANES.map((sql) => rowsOf(transaction, sql, values)),
    rowsOf(transaction, DROP_UNCONFIRMED, [webhook, unconfirmed_up_to]),
  ]);
  if (found.includes(ROWS_AT_ONCE)) return false;
  // A schedule that replaces this one in the meantime stays.
  await change(
    `DELETE FROM finishing_queues WHERE webhook = $1 AND up_to = $2 AND unconfirmed_up_to = $3 AND state = $4
     AND reason = $5 AND with_retractions = $6`,
    [webhook, up_to, unconfirmed_up_to, state, reason, with_retractions],
  );
  return true;
}

async function rowsOf(
  { query }: Transaction,
  sql: string,
  values: readonly (string | number | boolean)[],
): Promise<number> {
  const [row] = await query<{ rows: number }>(sql, values);
  return row?.rows ?? 0;
}

/**
 * Counts the rows that it found, even if an attempt has finished some of them meanwhile. Locks rows by ascending number, as
 * all writers do.
 */
const FINISH_LANES = LANES.map(
  (lane) => `WITH found AS MATERIALIZED (
    SELECT number FROM ${entriesOf(lane, "$1")} AND number <= $2 AND ($3 OR NOT is_retraction) LIMIT ${ROWS_AT_ONCE}
  ), locked AS MATERIALIZED (
    SELECT number FROM deliveries WHERE number IN (SELECT number FROM found) AND state = 'pending'
    ORDER BY number FOR UPDATE
  ), finished AS (
    UPDATE deliveries SET state = $4, next_attempt_ms = NULL, reason = $5, finished_ms = $6
    FROM locked WHERE deliveries.number = locked.number
  ) SELECT count(*)::integer AS rows FROM found`,
);

const DROP_UNCONFIRMED = `WITH found AS MATERIALIZED (
    SELECT sequence FROM unconfirmed_events WHERE webhook = $1 AND sequence <= $2 ORDER BY sequence LIMIT ${ROWS_AT_ONCE}
  ), dropped AS (
    DELETE FROM unconfirmed_events WHERE webhook = $1 AND sequence IN (SELECT sequence FROM found)
  ) SELECT count(*)::integer AS rows FROM found`;

/**
 * Suspends a webhook (webhooks.md 10 point 6) until it is updated or its target responds to a ping; does not change an existing suspension. Pending
 * deliveries fail, a step at a time: they can be sent again once the webhook is active.
 *
 * Changes the register: a transaction that has locked deliveries must have locked it for changes before.
 */
export async function suspendWebhook(
  transaction: Transaction,
  webhook: number,
  reason: string,
  atMs: number,
): Promise<void> {
  await bumpVersion(transaction);
  await transaction.change(
    "UPDATE webhooks SET suspended = $2, suspended_ms = $3 WHERE id = $1 AND suspended IS NULL",
    [webhook, storableText(reason), atMs],
  );
  await scheduleFinish(transaction, webhook, { state: "failed", reason });
  await endReplay(transaction, webhook, "cancelled", atMs, reason);
}

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

/** Counts and locks rows as `FINISH_LANES` does. */
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
