/** Keeps the copy of the event log within the bounds of the log. */
import type { Postgres } from "../../postgres/connection.ts";
import type { Retention } from "../../store/events/event-log.ts";
import { type Epoch, lockHead } from "../head.ts";

/** Rows deleted in one transaction. */
const DELETED_AT_ONCE = 5_000;

/**
 * Finds the events that are dropped: the oldest ones beyond the bounds, up to the first one that is not. While there are
 * webhooks, events that a worker has not matched yet stay.
 */
const DROPPED = `
  WITH oldest AS (SELECT sequence, created_ms FROM events ORDER BY sequence LIMIT ${DELETED_AT_ONCE}),
    matched AS (SELECT min(matched) AS sequence FROM shards WHERE EXISTS (SELECT FROM webhooks)),
    kept AS (
      SELECT min(oldest.sequence) AS sequence FROM oldest, matched, event_log
      WHERE oldest.sequence > matched.sequence
        OR (oldest.sequence > event_log.last_sequence - $1 AND oldest.created_ms >= $2))
  SELECT max(oldest.sequence) AS last, count(*)::integer AS count FROM oldest, kept
  WHERE oldest.sequence < coalesce(kept.sequence, oldest.sequence + 1)`;

/**
 * Drops some of the oldest events.
 *
 * @returns true if more may remain
 * @throws {MirrorError} MIRROR_DEPOSED
 */
export async function pruneEvents(
  postgres: Postgres,
  { maxEvents, maxAgeMs }: Retention,
  epoch: Epoch,
): Promise<boolean> {
  const [dropped] = await postgres.query<{ last: string | null; count: number }>(DROPPED, [
    maxEvents,
    Date.now() - maxAgeMs,
  ]);
  const { last = null, count = 0 } = dropped ?? {};
  if (last === null) return false;
  await postgres.transaction("READ WRITE", async (transaction) => {
    await lockHead(transaction, epoch);
    await transaction.change("DELETE FROM events WHERE sequence <= $1", [last]);
  });
  return count === DELETED_AT_ONCE;
}
