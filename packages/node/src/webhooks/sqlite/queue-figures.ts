/**
 * Figures of the queues, without disabled or suspended webhooks, whose pending deliveries are not late.
 */
import type { Database } from "../../store/engine/database.ts";
import type { QueueFigures } from "../figures.ts";

type QueueRow = {
  webhook: number;
  waiting: number;
  retrying: number;
  replaying: number;
  first_ms: number | null;
  retry_ms: number | null;
};

/** Returns SQL for the creation time of the oldest delivery in an index; the webhook is a column or a parameter. */
export const oldestIn = (index: string, condition: string, webhook = "webhooks.id"): string =>
  `(SELECT created_ms FROM deliveries INDEXED BY ${index} WHERE webhook = ${webhook} AND state = 'pending' AND replay IS NULL
    AND ${condition} ORDER BY number LIMIT 1)`;

/**
 * Creates a function that returns the figures of every non-empty queue, by webhook. It counts no rows: triggers update the
 * numbers in the transactions that change deliveries, and the oldest delivery is the first of an index.
 */
export function createQueueFigures(database: Database): () => Map<number, QueueFigures> {
  const select = database.prepare<QueueRow>(
    `SELECT webhook, waiting, retrying, replaying,
     ${oldestIn("deliveries_first", "next_attempt_ms IS NULL")} AS first_ms,
     ${oldestIn("deliveries_retry_oldest", "next_attempt_ms IS NOT NULL")} AS retry_ms
     FROM webhooks JOIN queues ON webhook = id
     WHERE enabled = 1 AND suspended IS NULL AND waiting + retrying + replaying > 0`,
  );
  return () => new Map(select.all().map((row) => [row.webhook, figuresFromRow(row)]));
}

function figuresFromRow({ waiting, retrying, replaying, first_ms, retry_ms }: QueueRow): QueueFigures {
  const madeMs = [first_ms, retry_ms].filter((ms) => ms !== null);
  return { waiting, retrying, replaying, ...(madeMs.length > 0 && { oldestMs: Math.min(...madeMs) }) };
}
