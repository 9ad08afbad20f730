/** Figures of webhooks and their queues from PostgreSQL. */
import type { Postgres } from "../../postgres/connection.ts";
import type { DeliveryFigures, QueueFigures, WebhookFigures } from "../figures.ts";
import { IS_PENDING } from "../storage/lanes.ts";

/** @param postgres may be a connection that only reads */
export const createPostgresFigures = ({ query }: Pick<Postgres, "query">): DeliveryFigures => ({
  async webhooks() {
    const [row] = await query<WebhookFiguresRow>(WEBHOOKS);
    return webhookFiguresFromRow(row);
  },
  async fired() {
    const rows = await query<{ webhook: string; last_sequence: string }>(
      "SELECT webhook, last_sequence FROM queues",
    );
    return new Map(rows.map(({ webhook, last_sequence }) => [Number(webhook), Number(last_sequence)]));
  },
  async queues() {
    const rows = await query<QueueRow>(QUEUES);
    return new Map(rows.map((row) => [Number(row.webhook), queueFiguresFromRow(row)]));
  },
});

type WebhookFiguresRow = {
  active: number;
  disabled: number;
  suspended: number;
  fired: string;
  logged: string;
  matched: string;
  unmatched_since_ms: string | null;
};

/**
 * A transaction that is rolled back leaves a gap in the numbers of deliveries. While the node owns the webhooks, no event waits for
 * workers.
 */
const WEBHOOKS = `SELECT counts.*, CASE WHEN is_called THEN last_value ELSE 0 END AS fired, last_sequence AS logged, matched,
    (SELECT created_ms FROM events WHERE sequence > matched ORDER BY sequence LIMIT 1) AS unmatched_since_ms
  FROM delivery_numbers, event_log, (
    SELECT CASE WHEN owner = 'workers' THEN (SELECT min(matched) FROM shards) ELSE last_sequence END AS matched
      FROM webhook_register, event_log
  ) AS positions, (
    SELECT count(*) FILTER (WHERE enabled AND suspended IS NULL)::integer AS active,
      count(*) FILTER (WHERE NOT enabled AND suspended IS NULL)::integer AS disabled,
      count(suspended)::integer AS suspended FROM webhooks
  ) AS counts`;

function webhookFiguresFromRow(row: WebhookFiguresRow | undefined): WebhookFigures {
  if (!row) return { active: 0, disabled: 0, suspended: 0, fired: 0, unmatched: 0 };
  const { active, disabled, suspended, fired, logged, matched, unmatched_since_ms } = row;
  return {
    ...{ active, disabled, suspended },
    fired: Number(fired),
    unmatched: Math.max(0, Number(logged) - Number(matched)),
    ...(unmatched_since_ms !== null && { unmatchedSinceMs: Number(unmatched_since_ms) }),
  };
}

type QueueRow = {
  webhook: string;
  waiting: string;
  retrying: string;
  replaying: string;
  oldest_ms: string | null;
};

/**
 * Counts entries of an index: no trigger updates numbers for each delivery, and nothing is cached. See `pendingCount` for the
 * cost; empty queues cost nothing.
 */
const QUEUES = `WITH pending AS (
    SELECT webhook, lane, count(*) AS total, min(number) AS first FROM delivery_lanes WHERE ${IS_PENDING} GROUP BY webhook, lane
  ), totals AS (
    SELECT webhook, sum(total) FILTER (WHERE lane = 'first') AS waiting, sum(total) FILTER (WHERE lane = 'retry') AS retrying,
      sum(total) FILTER (WHERE lane = 'replay') AS replaying, min(first) FILTER (WHERE lane = 'first') AS first,
      min(first) FILTER (WHERE lane = 'retry') AS retry
    FROM pending GROUP BY webhook
  )
  SELECT webhook, coalesce(waiting, 0) AS waiting, coalesce(retrying, 0) AS retrying, coalesce(replaying, 0) AS replaying,
    (SELECT min(created_ms) FROM deliveries WHERE number IN (first, retry)) AS oldest_ms
  FROM totals JOIN webhooks ON id = webhook WHERE enabled AND suspended IS NULL`;

const queueFiguresFromRow = ({ waiting, retrying, replaying, oldest_ms }: QueueRow): QueueFigures => ({
  waiting: Number(waiting),
  retrying: Number(retrying),
  replaying: Number(replaying),
  ...(oldest_ms !== null && { oldestMs: Number(oldest_ms) }),
});
