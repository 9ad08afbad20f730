/**
 * How full the queues of the webhooks are. Queues of webhooks that are disabled or suspended are left out: what waits in
 * them is not late.
 */
import type { Database } from "../engine/database.ts";

/** Of the queue of a webhook, or of all. */
export type QueueFigures = {
  /** Deliveries that were never tried. */
  readonly waiting: number;
  /** Deliveries of which an attempt failed. */
  readonly retrying: number;
  /** Deliveries of a replay. */
  readonly replaying: number;
  /** When the oldest delivery was made that waits or is retried, milliseconds since 1970. */
  readonly oldestMs?: number;
};

type QueueRow = {
  webhook: number;
  waiting: number;
  retrying: number;
  replaying: number;
  first_ms: number | null;
  retry_ms: number | null;
};

/** When the oldest delivery was made of those that an index of the queue holds. */
const oldestIn = (index: string, condition: string): string =>
  `(SELECT created_ms FROM deliveries INDEXED BY ${index} WHERE webhook = webhooks.id AND state = 'pending' AND replay IS NULL
    AND ${condition} ORDER BY number LIMIT 1)`;

/**
 * Makes a function that answers the figures of every queue that is not empty, by webhook. Nothing is counted: triggers
 * keep the numbers in the transactions that change deliveries, and each oldest delivery is the first of an index.
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

/** All queues as one. */
export function totalOf(queues: Iterable<QueueFigures>): QueueFigures {
  const total = { waiting: 0, retrying: 0, replaying: 0 };
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const queue of queues) {
    total.waiting += queue.waiting;
    total.retrying += queue.retrying;
    total.replaying += queue.replaying;
    oldestMs = Math.min(oldestMs, queue.oldestMs ?? Number.POSITIVE_INFINITY);
  }
  return { ...total, ...(oldestMs !== Number.POSITIVE_INFINITY && { oldestMs }) };
}
