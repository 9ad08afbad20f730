/**
 * SQL for the lanes of deliveries. In PostgreSQL, triggers of `deliveries` write the table `delivery_lanes`. In SQLite, each lane of
 * pending deliveries has an index, which is named because the planner would not choose it.
 */
import type { Kind } from "./sql.ts";

/** Lanes of pending deliveries. */
export const LANES = ["first", "retry", "replay"] as const;

export type Lane = (typeof LANES)[number];

/** `due`: retries in the order of their time. */
type Rows = Lane | "due" | "failed";

const RETRIES = "WHERE state = 'pending' AND next_attempt_ms IS NOT NULL AND replay IS NULL";
const SQLITE: Readonly<Record<Rows, string>> = {
  first:
    "deliveries INDEXED BY deliveries_first WHERE state = 'pending' AND next_attempt_ms IS NULL AND replay IS NULL",
  retry: `deliveries INDEXED BY deliveries_retry_oldest ${RETRIES}`,
  due: `deliveries INDEXED BY deliveries_retry ${RETRIES}`,
  replay: "deliveries INDEXED BY deliveries_replay WHERE state = 'pending' AND replay IS NOT NULL",
  failed: "deliveries INDEXED BY deliveries_failed WHERE state = 'failed'",
};

/** Returns SQL for the entries of a webhook, which is a column or a parameter, in a lane; conditions follow. */
export const rowsIn = (kind: Kind, lane: Rows, webhook: string): string =>
  kind === "sqlite"
    ? `${SQLITE[lane]} AND webhook = ${webhook}`
    : `delivery_lanes WHERE delivery_lanes.lane = '${lane === "due" ? "retry" : lane}' AND delivery_lanes.webhook = ${webhook}`;

/**
 * Returns an SQL condition for deliveries that are in a lane. After a lock, it holds for the locked rows; SQLite, which has one writer,
 * finds no others.
 */
export const isIn = (kind: Kind, lane: Lane): string =>
  kind === "sqlite"
    ? "true"
    : `lane_of(deliveries.state, deliveries.next_attempt_ms, deliveries.replay) = '${lane}'`;

/** SQL condition for retractions among the entries of a lane. */
export const IS_RETRACTION: Readonly<Record<Kind, string>> = {
  sqlite: "reverts IS NOT NULL",
  postgres: "is_retraction",
};

/** Returns SQL that follows a column, for rows that a query selects; PostgreSQL then finds them by an index. */
export const isOneOf = (kind: Kind, query: string): string =>
  kind === "sqlite" ? `IN (${query})` : `= ANY (ARRAY (${query}))`;

/** SQL condition for entries of pending deliveries. */
export const IS_PENDING = `delivery_lanes.lane IN (${LANES.map((lane) => `'${lane}'`).join(", ")})`;

/**
 * Returns SQL for the number of pending deliveries of a webhook, the first parameter. PostgreSQL counts entries of an
 * index: a million pending deliveries cost about 0.2 s of one server process, and 1 s before the first vacuum.
 */
export const pendingCount = (kind: Kind): string =>
  kind === "sqlite"
    ? `(SELECT waiting + retrying + replaying FROM queues WHERE queues.webhook = $1)`
    : `(SELECT count(*) FROM delivery_lanes WHERE ${IS_PENDING} AND delivery_lanes.webhook = $1)`;

/** SQL condition for webhooks that get deliveries: a queue that is being finished or restarted is completed first. */
export const IS_ON = `webhooks.enabled AND webhooks.suspended IS NULL
  AND NOT EXISTS (SELECT 1 FROM finishing_queues WHERE finishing_queues.webhook = webhooks.id)
  AND NOT EXISTS (SELECT 1 FROM restarting_queues WHERE restarting_queues.webhook = webhooks.id)`;
