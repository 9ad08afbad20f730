/**
 * Drops deliveries with their attempts, and contents that no delivery has: a range of the oldest rows at a
 * time, so that no other transaction waits for long. The steps of all processes that drop rows wait for each other. All
 * writers lock deliveries by ascending number.
 */
import { present } from "../../../platform/present.ts";
import type { Postgres, PostgresValue, Transaction } from "../../../postgres/connection.ts";
import type { RetentionSteps } from "../../delivery-queue.ts";
import type { DeliveryRetention } from "../../model/deliveries.ts";
import { entriesOf, isIn } from "../../storage/lanes.ts";
import { changeQueue, lockQueues } from "../queue-changes.ts";

/** Rows read or changed in one transaction: some milliseconds. */
const ROWS_AT_ONCE = 500;

export function createPostgresRetention(postgres: Postgres): RetentionSteps {
  const { transaction } = postgres;
  return {
    dropBehind: (after, retention, nowMs) =>
      transaction("READ WRITE", (own) => dropBehind(own, after, retention, nowMs)),
    ...createSurplus(postgres),
    dropRemoved: () => transaction("READ WRITE", dropRemoved),
  };
}

type Range = {
  readonly last: string | null;
  readonly oldest_ms: string;
  readonly newest_ms: string;
  /** Number of the newest delivery. */
  readonly newest: string;
  /** Height of the chain; null without blocks. */
  readonly height: string | null;
};

const RANGE = `SELECT max(number) AS last, min(created_ms) AS oldest_ms, max(created_ms) AS newest_ms,
    (SELECT max(number) FROM deliveries) AS newest, (SELECT height FROM head WHERE height > 0) AS height
  FROM (SELECT number, created_ms FROM deliveries WHERE number > $1 ORDER BY number LIMIT ${ROWS_AT_ONCE}) AS next`;

const IS_EXPIRED = `number > $1 AND number <= $2 AND finished_ms IS NOT NULL AND (height IS NULL OR height <= $3)
  AND (number <= $4 OR finished_ms < CASE state WHEN 'failed' THEN $5::bigint ELSE $6::bigint END)`;

async function dropBehind(
  transaction: Transaction,
  after: number,
  { maxAgeMs, maxFailedAgeMs, maxDeliveries, keptBlocks }: DeliveryRetention,
  nowMs: number,
): Promise<number | undefined> {
  const [row] = await transaction.query<Range>(RANGE, [after]);
  const range = present(row, "a row of aggregates");
  if (range.last === null) return undefined;
  const surplus = Number(range.newest) - maxDeliveries;
  const createdBeforeMs = nowMs - maxAgeMs;
  // If the clock was set back, old deliveries may follow deliveries with a later time.
  const isYoung = Number(range.oldest_ms) >= createdBeforeMs && Number(range.newest_ms) <= nowMs;
  if (isYoung && after >= surplus) return undefined;
  const last = Number(range.last);
  // Without blocks, no facts can be retracted.
  const safeHeight = range.height === null ? Number.MAX_SAFE_INTEGER : Number(range.height) - keptBlocks;
  await dropExpired(transaction, [after, last, safeHeight, surplus, nowMs - maxFailedAgeMs, createdBeforeMs]);
  return last;
}

/** Locks the queues of the deliveries first, because a replay or a client can put them into the queue again. */
async function dropExpired(transaction: Transaction, values: readonly PostgresValue[]): Promise<void> {
  const queues = await transaction.query<{ webhook: string }>(
    `SELECT DISTINCT webhook FROM deliveries WHERE ${IS_EXPIRED}`,
    values,
  );
  if (queues.length === 0) return;
  await waitForOtherSteps(transaction);
  const webhooks = queues.map(({ webhook }) => Number(webhook));
  await lockQueues(transaction, webhooks);
  await drop(transaction, `${IS_EXPIRED} AND webhook = ANY ($7)`, [...values, webhooks]);
}

/** Two steps that drop the last two deliveries of a content at the same time would both keep the content. */
async function waitForOtherSteps({ query }: Transaction): Promise<void> {
  await query("SELECT pg_advisory_xact_lock(hashtext('retention of deliveries'))");
}

/** Drops the oldest deliveries that match a condition. Returns their number. */
async function drop(
  { query, change }: Transaction,
  condition: string,
  values: readonly PostgresValue[],
): Promise<number> {
  const dropped = await query<{ number: string; content: string }>(
    `DELETE FROM deliveries WHERE number = ANY (ARRAY (
       SELECT number FROM deliveries WHERE ${condition} ORDER BY number LIMIT ${ROWS_AT_ONCE} FOR UPDATE))
     RETURNING number, content`,
    values,
  );
  if (dropped.length === 0) return 0;
  await change("DELETE FROM attempts WHERE delivery = ANY ($1)", [dropped.map(({ number }) => number)]);
  await change(
    `DELETE FROM contents WHERE number = ANY ($1)
     AND NOT EXISTS (SELECT FROM deliveries WHERE deliveries.content = contents.number)`,
    [dropped.map(({ content }) => content)],
  );
  return dropped.length;
}

/**
 * The sequences of the oldest first attempt and of the last delivery are an upper bound on the number of first attempts, apart
 * from the ping of a new webhook. Only queues that exceed the maximum by this bound are counted.
 */
const FIRST = entriesOf("first", "queues.webhook");
const NEXT_OVERFULL = `SELECT queues.webhook, waiting.count
  FROM queues
  CROSS JOIN LATERAL (SELECT number FROM ${FIRST} ORDER BY number LIMIT 1) AS first
  CROSS JOIN LATERAL (SELECT sequence FROM deliveries WHERE deliveries.webhook = queues.webhook AND number >= first.number
    AND sequence IS NOT NULL ORDER BY webhook, number LIMIT 1) AS oldest
  CROSS JOIN LATERAL (SELECT CASE WHEN last_sequence - oldest.sequence + 2 <= $2 THEN 0 ELSE
    (SELECT count(*) FROM ${FIRST}) END AS count
    OFFSET 0) AS waiting
  WHERE queues.webhook > $1 AND last_sequence + 2 > $2 AND waiting.count > $2 ORDER BY queues.webhook LIMIT 1`;

function createSurplus(postgres: Postgres): Pick<RetentionSteps, "nextOverfull" | "failSurplus"> {
  return {
    async nextOverfull(after, maxWaiting) {
      const [queue] = await postgres.query<{ webhook: string; count: string }>(NEXT_OVERFULL, [
        after,
        maxWaiting,
      ]);
      return queue && { webhook: Number(queue.webhook), surplus: Number(queue.count) - maxWaiting };
    },
    async failSurplus({ webhook, surplus }, nowMs) {
      const { count } = await changeQueue(postgres, webhook, async ({ change }) => ({
        count: await change(
          `UPDATE deliveries SET state = 'failed', reason = 'the queue was full', finished_ms = $2
           WHERE number = ANY (ARRAY (
             SELECT number FROM deliveries
             WHERE number = ANY (ARRAY (SELECT number FROM ${entriesOf("first", "$1")} ORDER BY number LIMIT $3))
             AND ${isIn("first")} ORDER BY number FOR UPDATE))`,
          [webhook, nowMs, Math.min(surplus, ROWS_AT_ONCE)],
        ),
      }));
      return count;
    },
  };
}

async function dropRemoved(transaction: Transaction): Promise<boolean> {
  const { query, change } = transaction;
  const [removed] = await query<{ id: string }>("SELECT id FROM removed_webhooks ORDER BY id LIMIT 1");
  if (!removed) return false;
  const { id } = removed;
  await waitForOtherSteps(transaction);
  const deliveries = await drop(transaction, "webhook = $1", [id]);
  const events = await change(
    `DELETE FROM unconfirmed_events WHERE webhook = $1 AND sequence IN
     (SELECT sequence FROM unconfirmed_events WHERE webhook = $1 ORDER BY sequence LIMIT ${ROWS_AT_ONCE})`,
    [id],
  );
  if (deliveries + events === 0) await change("DELETE FROM removed_webhooks WHERE id = $1", [id]);
  return true;
}
