/**
 * Changes of whole queues: all pending deliveries are finished without being sent, or retries become first attempts again, with the
 * full schedule of retries. Works on a range at a time, so that no other writer waits for long; the queue sends no deliveries until
 * the last range.
 *
 * Steps lock the queue first. A former owner of the webhook can therefore repeat a step without harm.
 */

import type { Finish } from "../model/deliveries.ts";
import { IS_RETRACTION, isOneOf, LANES, type Lane, rowsIn } from "./lanes.ts";
import { bumpVersion, lockQueue } from "./locks.ts";
import { endReplay } from "./replays.ts";
import { isOwned } from "./shards.ts";
import type { Flag, Sql, Steps, Store } from "./sql.ts";

/** `webhook`: the webhook whose queue is complete, if any; `more`: further steps may follow. */
export type FinishStep = { readonly webhook?: number; readonly more: boolean };

/** Maximum rows to change per lane and step: some milliseconds. */
const ROWS_AT_ONCE = 1_000;

type FinishRow = {
  webhook: number;
  up_to: number;
  unconfirmed_up_to: number;
  state: Finish["state"];
  reason: string;
  with_retractions: Flag;
};

/** Leaves all work to `finishStep`. */
export function* scheduleFinish(
  sql: Sql,
  webhook: number,
  { state, reason, withRetractions = false, withUnconfirmed = false }: Finish,
): Steps<void> {
  yield* sql.change(
    `INSERT INTO finishing_queues (webhook, up_to, unconfirmed_up_to, state, reason, with_retractions)
     SELECT id, (SELECT coalesce(max(number), 0) FROM deliveries WHERE webhook = $1),
       (SELECT coalesce(max(sequence), 0) FROM unconfirmed_events WHERE webhook = $1 AND $5), $2, $3, $4
     FROM webhooks WHERE id = $1 FOR KEY SHARE
     ON CONFLICT (webhook) DO UPDATE SET up_to = EXCLUDED.up_to,
       unconfirmed_up_to = CASE WHEN $5 THEN EXCLUDED.unconfirmed_up_to ELSE finishing_queues.unconfirmed_up_to END,
       state = EXCLUDED.state, reason = EXCLUDED.reason,
       with_retractions = finishing_queues.with_retractions OR EXCLUDED.with_retractions`,
    [webhook, state, reason, withRetractions, withUnconfirmed],
  );
}

/** Finishes the pending deliveries, and drops unconfirmed events if they are included; `finishStep` processes the rest. */
export function* beginFinish(sql: Sql, webhook: number, finish: Finish, atMs: number): Steps<void> {
  if (!(yield* lockQueue(sql, webhook))) return;
  yield* scheduleFinish(sql, webhook, finish);
  yield* finishRows(sql, webhook, atMs);
}

/**
 * Finishes some deliveries of the shards that must not be sent, or continues with a restarting queue.
 *
 * @returns the webhook once its queue is complete
 */
export async function finishStep(store: Store, shards: readonly number[], atMs: number): Promise<FinishStep> {
  const step = await stepOf(store, "finishing_queues", shards, (sql, webhook) =>
    finishRows(sql, webhook, atMs),
  );
  return step.more ? step : stepOf(store, "restarting_queues", shards, restartRows);
}

async function stepOf(
  store: Store,
  table: "finishing_queues" | "restarting_queues",
  shards: readonly number[],
  change: (sql: Sql, webhook: number) => Steps<boolean>,
): Promise<FinishStep> {
  const row = await store.read((sql) =>
    sql.row<{ webhook: number }>(
      `SELECT webhook FROM ${table} WHERE ${isOwned(sql.kind, "webhook", "$1")} ORDER BY webhook LIMIT 1`,
      [shards],
    ),
  );
  if (!row) return { more: false };
  const { webhook } = row;
  const isComplete = await store.write(function* (sql) {
    yield* lockQueue(sql, webhook);
    return yield* change(sql, webhook);
  });
  return { more: true, ...(isComplete && { webhook }) };
}

/** Finishes rows; returns `false` if some remain. */
export function* finishRows(sql: Sql, webhook: number, atMs: number): Steps<boolean> {
  const row = yield* sql.row<FinishRow>("SELECT * FROM finishing_queues WHERE webhook = $1", [webhook]);
  if (!row) return true;
  const { up_to, unconfirmed_up_to, state, reason, with_retractions } = row;
  const condition = `AND number <= $2 AND ($3 OR NOT (${IS_RETRACTION[sql.kind]}))`;
  const found: number[] = [];
  for (const lane of LANES)
    found.push(
      yield* changeLane(
        sql,
        { lane, condition, values: [webhook, up_to, with_retractions] },
        { changes: FINISHED, values: [state, reason, atMs] },
      ),
    );
  found.push(yield* dropUnconfirmed(sql, webhook, unconfirmed_up_to));
  if (found.includes(ROWS_AT_ONCE)) return false;
  // A schedule that replaces this one in the meantime stays.
  yield* sql.change(
    `DELETE FROM finishing_queues WHERE webhook = $1 AND up_to = $2 AND unconfirmed_up_to = $3 AND state = $4
     AND reason = $5 AND with_retractions = $6`,
    [webhook, up_to, unconfirmed_up_to, state, reason, with_retractions],
  );
  return true;
}

/** Changes of deliveries; the first parameter has their numbers. */
const FINISHED = "state = $2, next_attempt_ms = NULL, reason = $3, finished_ms = $4";
const RESTARTED = "next_attempt_ms = NULL, attempts = 0, reason = NULL";

/**
 * Changes at most `ROWS_AT_ONCE` pending deliveries of a lane, whose webhook is the first parameter of the condition. Returns how many
 * it found: in PostgreSQL, an attempt may have finished some of them meanwhile.
 */
function* changeLane(
  sql: Sql,
  { lane, condition, values }: { lane: Lane; condition: string; values: readonly (number | boolean)[] },
  change: { changes: string; values: readonly (string | number)[] },
): Steps<number> {
  const found = yield* sql.rows<{ number: number }>(
    `SELECT number FROM ${rowsIn(sql.kind, lane, "$1")} ${condition} LIMIT ${ROWS_AT_ONCE}`,
    values,
  );
  if (found.length === 0) return 0;
  // Locks rows by ascending number, as all writers do.
  const pending =
    "SELECT number FROM deliveries WHERE number = ANY ($1) AND state = 'pending' ORDER BY number FOR UPDATE";
  yield* sql.change(`UPDATE deliveries SET ${change.changes} WHERE number ${isOneOf(sql.kind, pending)}`, [
    found.map(({ number }) => number),
    ...change.values,
  ]);
  return found.length;
}

/** Drops at most `ROWS_AT_ONCE` unconfirmed events. Returns how many it found. */
function* dropUnconfirmed(sql: Sql, webhook: number, upTo: number): Steps<number> {
  const found = yield* sql.rows<{ sequence: number }>(
    `SELECT sequence FROM unconfirmed_events WHERE webhook = $1 AND sequence <= $2 ORDER BY sequence LIMIT ${ROWS_AT_ONCE}`,
    [webhook, upTo],
  );
  if (found.length === 0) return 0;
  yield* sql.change("DELETE FROM unconfirmed_events WHERE webhook = $1 AND sequence = ANY ($2)", [
    webhook,
    found.map(({ sequence }) => sequence),
  ]);
  return found.length;
}

/**
 * Suspends a webhook (webhooks.md 10 point 6) until it is updated or its target responds to a ping; does not change an existing suspension. Pending
 * deliveries fail, a step at a time: they can be sent again once the webhook is active. Unconfirmed events stay, as those of a paused
 * webhook, and no further ones are stored.
 *
 * Changes the register: a transaction that has locked deliveries must have locked it for changes before.
 */
export function* suspendWebhook(sql: Sql, webhook: number, reason: string, atMs: number): Steps<void> {
  yield* bumpVersion(sql);
  yield* sql.change(
    "UPDATE webhooks SET suspended = $2, suspended_ms = $3 WHERE id = $1 AND suspended IS NULL",
    [webhook, reason, atMs],
  );
  yield* scheduleFinish(sql, webhook, { state: "failed", reason });
  yield* endReplay(sql, webhook, "cancelled", atMs, reason);
}

/** Restarts the queue; `finishStep` processes the rest. */
export function* beginRestart(sql: Sql, webhook: number): Steps<void> {
  yield* sql.change(
    `INSERT INTO restarting_queues SELECT id FROM webhooks WHERE id = $1 FOR KEY SHARE
     ON CONFLICT (webhook) DO NOTHING`,
    [webhook],
  );
  if (yield* lockQueue(sql, webhook)) yield* restartRows(sql, webhook);
}

/** Restarts rows; returns `false` if some remain. */
function* restartRows(sql: Sql, webhook: number): Steps<boolean> {
  const found: number[] = [];
  for (const lane of ["retry", "replay"] as const) {
    const deliveries = { lane, condition: "AND next_attempt_ms IS NOT NULL", values: [webhook] };
    found.push(yield* changeLane(sql, deliveries, { changes: RESTARTED, values: [] }));
  }
  if (found.includes(ROWS_AT_ONCE)) return false;
  yield* sql.change("DELETE FROM restarting_queues WHERE webhook = $1", [webhook]);
  return true;
}
