/** Replays in PostgreSQL: one range of the chain for each webhook, and its progress. */
import { withoutNulls } from "../../platform/without-nulls.ts";
import type { Postgres, Query, Transaction } from "../../postgres/connection.ts";
import type { ReplayRows } from "../delivery-queue.ts";
import { CANCELLATION, type Replay, type ReplayPosition, type ReplayState } from "../model/replay.ts";
import { storableText } from "./contents.ts";
import { entriesOf, isIn } from "./lanes.ts";
import { lockQueue, noteChange } from "./queue-changes.ts";
import type { OwnedShards } from "./shards.ts";
import { IS_ON } from "./webhook-rows.ts";

type ReplayRow = {
  webhook: string;
  from_height: string;
  to_height: string;
  next_height: string;
  next_index: number;
  events: string;
  last_delivery: string;
  state: ReplayState;
  reason: string | null;
  started_ms: string;
  finished_ms: string | null;
};

/** Returns the last replay of the webhook. */
async function findReplay(query: Query, webhook: number): Promise<Replay | undefined> {
  const [row] = await query<ReplayRow>("SELECT * FROM replays WHERE webhook = $1", [webhook]);
  return row && replayFromRow(row);
}

/** Returns the last replay of the webhook, and locks its queue and the replay. */
export async function lockReplay({ query }: Transaction, webhook: number): Promise<Replay | undefined> {
  const [row] = await query<ReplayRow>(
    `SELECT replays.* FROM queues JOIN replays USING (webhook) WHERE webhook = $1
     FOR UPDATE OF queues FOR UPDATE OF replays`,
    [webhook],
  );
  return row && replayFromRow(row);
}

export async function advanceReplay(
  { change }: Transaction,
  webhook: number,
  { nextHeight, nextIndex, events }: ReplayPosition,
): Promise<void> {
  await change("UPDATE replays SET next_height = $2, next_index = $3, events = $4 WHERE webhook = $1", [
    webhook,
    nextHeight,
    nextIndex,
    events,
  ]);
}

/** Ends the running replay; a replay that has already ended is not changed. */
export async function endReplay(
  { change }: Pick<Transaction, "change">,
  webhook: number,
  state: "finished" | "cancelled",
  atMs: number,
  reason?: string,
): Promise<void> {
  await change(
    `UPDATE replays SET state = $2, reason = $3, finished_ms = $4 WHERE webhook = $1 AND state = 'running'`,
    [webhook, state, reason === undefined ? null : storableText(reason), atMs],
  );
}

/** @param owned only replays of its shards are continued */
export const createPostgresReplays = (postgres: Postgres, owned: OwnedShards): ReplayRows => ({
  start: (webhook, range, atMs) =>
    postgres.transaction("READ WRITE", (transaction) => start(transaction, webhook, range, atMs)),
  async find(webhook) {
    const [row] = await postgres.query<ReplayRow & { waiting: number }>(
      `SELECT *, (SELECT count(*)::integer FROM ${entriesOf("replay", "$1")}) AS waiting
       FROM replays WHERE webhook = $1`,
      [webhook],
    );
    return row && { ...replayFromRow(row), waiting: row.waiting };
  },
  async next(after, maxWaiting) {
    const shards = owned.all().map(({ shard }) => shard);
    const [row] = await postgres.query<ReplayRow>(NEXT, [after, maxWaiting, shards]);
    return row && replayFromRow(row);
  },
  finish: (webhook, atMs) =>
    postgres.transaction("READ WRITE", (transaction) => endReplay(transaction, webhook, "finished", atMs)),
  cancel: (webhook, atMs) =>
    postgres.transaction("READ WRITE", (transaction) => cancel(transaction, webhook, atMs)),
});

const NEXT = `SELECT replays.* FROM replays JOIN webhooks ON webhooks.id = replays.webhook AND ${IS_ON}
  WHERE replays.state = 'running' AND webhooks.shard = ANY ($3)
  AND (SELECT count(*) FROM ${entriesOf("replay", "replays.webhook")})
    <= CASE WHEN next_height > to_height THEN 0 ELSE $2 END
  ORDER BY replays.webhook <= $1, replays.webhook LIMIT 1`;

/** Starts a replay; returns `false` if one is running. */
async function start(
  transaction: Transaction,
  webhook: number,
  { fromHeight, toHeight }: { fromHeight: number; toHeight: number },
  atMs: number,
): Promise<boolean> {
  const { query, change } = transaction;
  // Deliveries that others insert now have greater numbers than the last one before the replay.
  await query(
    `SELECT 1 FROM webhooks JOIN queues ON webhook = id WHERE id = $1
     FOR KEY SHARE OF webhooks FOR UPDATE OF queues`,
    [webhook],
  );
  if ((await findReplay(query, webhook))?.state === "running") return false;
  await change("DELETE FROM replays WHERE webhook = $1", [webhook]);
  await change(
    `INSERT INTO replays SELECT id, $2, $3, $2, 0, 0,
       (SELECT coalesce(max(number), 0) FROM deliveries WHERE webhook = $1), 'running', NULL, $4, NULL
     FROM webhooks WHERE id = $1`,
    [webhook, fromHeight, toHeight, atMs],
  );
  await noteChange(transaction, webhook, false);
  return true;
}

/** Cancels the running replay and its pending deliveries, of which the replay worker limits the number. */
async function cancel(transaction: Transaction, webhook: number, atMs: number): Promise<void> {
  await lockQueue(transaction, webhook);
  await transaction.change(
    `UPDATE deliveries SET state = 'cancelled', next_attempt_ms = NULL, reason = $2, finished_ms = $3
     WHERE number = ANY (ARRAY (SELECT number FROM deliveries
       WHERE number = ANY (ARRAY (SELECT number FROM ${entriesOf("replay", "$1")})) AND ${isIn("replay")}
       ORDER BY number FOR UPDATE))`,
    [webhook, CANCELLATION.deliveries, atMs],
  );
  await endReplay(transaction, webhook, "cancelled", atMs, CANCELLATION.replay);
  await noteChange(transaction, webhook, false);
}

const replayFromRow = (row: ReplayRow): Replay =>
  withoutNulls({
    webhook: Number(row.webhook),
    fromHeight: Number(row.from_height),
    toHeight: Number(row.to_height),
    nextHeight: Number(row.next_height),
    nextIndex: row.next_index,
    events: Number(row.events),
    lastDelivery: Number(row.last_delivery),
    state: row.state,
    reason: row.reason,
    startedMs: Number(row.started_ms),
    finishedMs: row.finished_ms === null ? null : Number(row.finished_ms),
  });
