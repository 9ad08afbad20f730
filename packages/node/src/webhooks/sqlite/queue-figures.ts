/**
 * How full the queues of the webhooks are. Queues of webhooks that are disabled or suspended are left out: what waits in
 * them is not late.
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

/** When the oldest delivery in an index of a queue was made; the webhook is a column or a parameter. */
export const oldestIn = (index: string, condition: string, webhook = "webhooks.id"): string =>
  `(SELECT created_ms FROM deliveries INDEXED BY ${index} WHERE webhook = ${webhook} AND state = 'pending' AND replay IS NULL
    AND ${condition} ORDER BY number LIMIT 1)`;

/**
 * Makes a function that returns the figures of every queue that is not empty, by webhook. Nothing is counted: triggers
 * update the numbers in the transactions that change deliveries, and each oldest delivery is the first of an index.
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
