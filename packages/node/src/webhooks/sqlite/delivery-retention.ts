/** Drops deliveries: a range of the oldest rows at a time, so that no other writer waits for long. */

import { present } from "../../platform/present.ts";
import type { Database } from "../../store/engine/database.ts";
import type { RetentionSteps } from "../delivery-queue.ts";
import type { Sync } from "./sql.ts";

export type DeliveryRetentionStore = Sync<RetentionSteps>;

/** Rows read or changed in one transaction: some milliseconds of the writer. */
const ROWS_AT_ONCE = 500;

export function createDeliveryRetentionStore(database: Database): DeliveryRetentionStore {
  return {
    dropBehind: createDropBehind(database),
    ...createSurplus(database),
    dropRemoved: createDropRemoved(database),
  };
}

function createDropBehind(database: Database): DeliveryRetentionStore["dropBehind"] {
  const range = database.prepare<{ last: number | null; oldestMs: number; newestMs: number }>(
    `SELECT max(number) AS last, min(created_ms) AS oldestMs, max(created_ms) AS newestMs FROM
     (SELECT number, created_ms FROM deliveries WHERE number > ? ORDER BY number LIMIT ${ROWS_AT_ONCE})`,
  );
  const newest = database.prepare<{ number: number }>("SELECT max(number) AS number FROM deliveries");
  // Without blocks, no facts can be retracted.
  const head = database.prepare<{ height: number | null }>("SELECT max(height) AS height FROM blocks");
  const drop = database.prepare(
    `DELETE FROM deliveries WHERE number > ? AND number <= ? AND finished_ms IS NOT NULL
     AND (height IS NULL OR height <= ?)
     AND (number <= ? OR finished_ms < CASE state WHEN 'failed' THEN ? ELSE ? END)`,
  );
  return (after, { maxAgeMs, maxFailedAgeMs, maxDeliveries, keptBlocks }, nowMs) =>
    database.transaction(() => {
      const { last, oldestMs, newestMs } = present(range.get(after), "a row of aggregates");
      const surplus = (newest.get()?.number ?? 0) - maxDeliveries;
      const createdBeforeMs = nowMs - maxAgeMs;
      // If the clock was set back, old deliveries may follow deliveries with a later time.
      const isYoung = oldestMs >= createdBeforeMs && newestMs <= nowMs;
      if (last === null || (isYoung && after >= surplus)) return undefined;
      const height = head.get()?.height ?? undefined;
      const safeHeight = height === undefined ? Number.MAX_SAFE_INTEGER : height - keptBlocks;
      drop.run(after, last, safeHeight, surplus, nowMs - maxFailedAgeMs, createdBeforeMs);
      return last;
    });
}

/** Names the index, because the planner would choose one with every delivery of the webhook. */
const FIRST_OF = `deliveries INDEXED BY deliveries_first
  WHERE state = 'pending' AND next_attempt_ms IS NULL AND replay IS NULL AND webhook = +?`;

function createSurplus(database: Database): Pick<DeliveryRetentionStore, "nextOverfull" | "failSurplus"> {
  const nextOverfull = database.prepare<{ webhook: number; waiting: number }>(
    "SELECT webhook, waiting FROM queues WHERE webhook > ? AND waiting > ? ORDER BY webhook LIMIT 1",
  );
  const failOldest = database.prepare(
    `UPDATE deliveries SET state = 'failed', reason = 'the queue was full', finished_ms = ? WHERE number IN
     (SELECT number FROM ${FIRST_OF} ORDER BY number LIMIT +?)`,
  );
  return {
    nextOverfull(after, maxWaiting) {
      const queue = nextOverfull.get(after, maxWaiting);
      return queue && { webhook: queue.webhook, surplus: queue.waiting - maxWaiting };
    },
    failSurplus: ({ webhook, surplus }, nowMs) =>
      failOldest.run(nowMs, webhook, Math.min(surplus, ROWS_AT_ONCE)).changes,
  };
}

function createDropRemoved(database: Database): DeliveryRetentionStore["dropRemoved"] {
  const removed = database.prepare<{ id: number }>("SELECT id FROM removed_webhooks LIMIT 1");
  const dropOf = database.prepare(
    `DELETE FROM deliveries WHERE number IN
     (SELECT number FROM deliveries WHERE webhook = +? ORDER BY number LIMIT ${ROWS_AT_ONCE})`,
  );
  const dropUnconfirmedOf = database.prepare(
    `DELETE FROM unconfirmed_events WHERE webhook = +? AND sequence IN
     (SELECT sequence FROM unconfirmed_events WHERE webhook = +? LIMIT ${ROWS_AT_ONCE})`,
  );
  const finishRemoved = database.prepare("DELETE FROM removed_webhooks WHERE id = ?");
  return () =>
    database.transaction(() => {
      const webhook = removed.get();
      if (!webhook) return false;
      const dropped = dropOf.run(webhook.id).changes + dropUnconfirmedOf.run(webhook.id, webhook.id).changes;
      if (dropped === 0) finishRemoved.run(webhook.id);
      return true;
    });
}
