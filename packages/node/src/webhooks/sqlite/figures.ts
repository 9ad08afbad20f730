/** Figures of webhooks and their queues from SQLite. None counts the rows of deliveries. */
import type { Database } from "../../store/engine/database.ts";
import type { DeliveryFigures, QueueFigures, WebhookFigures } from "../figures.ts";
import { READER } from "../intake.ts";

/** @param database may be a connection that only reads */
export function createSqliteFigures(database: Database): DeliveryFigures {
  const webhooks = createWebhookFigures(database);
  const fired = createFiredFigures(database);
  const queues = createQueueFigures(database);
  return {
    webhooks: async () => webhooks(),
    fired: async () => fired(),
    queues: async () => queues(),
  };
}

/** Creates a function that returns the number of deliveries of each registered webhook, without pings. */
export function createFiredFigures(database: Database): () => Map<number, number> {
  const fired = database.prepare<{ webhook: number; last_sequence: number }>(
    "SELECT webhook, last_sequence FROM queues",
  );
  return () => new Map(fired.all().map(({ webhook, last_sequence }) => [webhook, last_sequence]));
}

export function createWebhookFigures(database: Database): () => WebhookFigures {
  const states = database.prepare<{ state: "active" | "disabled" | "suspended"; count: number }>(
    `SELECT CASE WHEN suspended IS NOT NULL THEN 'suspended' WHEN enabled = 1 THEN 'active' ELSE 'disabled' END AS state,
     count(*) AS count FROM webhooks GROUP BY 1`,
  );
  const lastOf = database.prepare<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = +?");
  const cursor = database.prepare<{ sequence: number }>("SELECT sequence FROM cursors WHERE reader = ?");
  const next = database.prepare<{ created_ms: number }>(
    "SELECT created_ms FROM events WHERE sequence > ? ORDER BY sequence LIMIT 1",
  );

  return () => {
    const counts = new Map(states.all().map(({ state, count }) => [state, count]));
    const logged = lastOf.get("events")?.seq ?? 0;
    const matched = cursor.get(READER)?.sequence ?? logged;
    const unmatchedSinceMs = next.get(matched)?.created_ms;
    return {
      active: counts.get("active") ?? 0,
      disabled: counts.get("disabled") ?? 0,
      suspended: counts.get("suspended") ?? 0,
      fired: lastOf.get("deliveries")?.seq ?? 0,
      unmatched: logged - matched,
      ...(unmatchedSinceMs !== undefined && { unmatchedSinceMs }),
    };
  };
}

type QueueRow = {
  webhook: number;
  waiting: number;
  retrying: number;
  replaying: number;
  first_ms: number | null;
  retry_ms: number | null;
};

/**
 * Creates a function that returns the figures of every non-empty queue, by webhook, without disabled or suspended webhooks,
 * whose pending deliveries are not late. Triggers update the numbers in the transactions that change deliveries.
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

/** Returns SQL for the creation time of the oldest delivery in an index; the webhook is a column or a parameter. */
export const oldestIn = (index: string, condition: string, webhook = "webhooks.id"): string =>
  `(SELECT created_ms FROM deliveries INDEXED BY ${index} WHERE webhook = ${webhook} AND state = 'pending' AND replay IS NULL
    AND ${condition} ORDER BY number LIMIT 1)`;

function figuresFromRow({ waiting, retrying, replaying, first_ms, retry_ms }: QueueRow): QueueFigures {
  const madeMs = [first_ms, retry_ms].filter((ms) => ms !== null);
  return { waiting, retrying, replaying, ...(madeMs.length > 0 && { oldestMs: Math.min(...madeMs) }) };
}
