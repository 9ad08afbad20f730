/** Figures of webhooks and of their queues, for metrics and health checks. Times are milliseconds since 1970. */
import { withoutNulls } from "../platform/without-nulls.ts";
import { READER } from "./intake.ts";
import { IS_PENDING, rowsIn } from "./storage/lanes.ts";
import type { Kind, Nullable, Reads, Steps, Store } from "./storage/sql.ts";

export type WebhookFigures = {
  readonly active: number;
  readonly disabled: number;
  readonly suspended: number;
  /** Deliveries ever created in this data folder. */
  readonly fired: number;
  /** Events that the matcher has not handled yet. */
  readonly unmatched: number;
  /** Time at which the oldest unmatched event was logged. */
  readonly unmatchedSinceMs?: number;
};

export type QueueFigures = {
  /** Deliveries that were never tried. */
  readonly waiting: number;
  /** Deliveries with a failed attempt. */
  readonly retrying: number;
  /** Deliveries of a replay. */
  readonly replaying: number;
  /** Creation time of the oldest pending delivery or retry. */
  readonly oldestMs?: number;
};

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

export class DeliveryFigures {
  readonly #store: Store;

  /** @param store may be a connection that only reads */
  constructor(store: Store) {
    this.#store = store;
  }

  webhooks(): Promise<WebhookFigures> {
    return this.#store.read(readWebhookFigures);
  }

  /** Returns the number of deliveries ever created for each registered webhook, without pings. */
  fired(): Promise<ReadonlyMap<number, number>> {
    return this.#store.read(readFired);
  }

  /** Returns figures by webhook; omits empty queues and webhooks that are off, whose deliveries are not late. */
  queues(): Promise<ReadonlyMap<number, QueueFigures>> {
    return this.#store.read(readQueueFigures);
  }
}

type WebhookFiguresRow = Nullable<Omit<WebhookFigures, "unmatched">> & {
  readonly logged: number;
  readonly matched: number;
};

/**
 * In PostgreSQL, a transaction that is rolled back leaves a gap in the numbers of deliveries. Users who may only take numbers cannot
 * read the sequence as a table.
 */
const FIRED: Readonly<Record<Kind, string>> = {
  sqlite: "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'deliveries'), 0)",
  postgres: "coalesce(pg_sequence_last_value('delivery_numbers'), 0)",
};
/** While another side owns the webhooks, no event waits. */
const POSITIONS: Readonly<Record<Kind, string>> = {
  sqlite: `SELECT logged, coalesce((SELECT sequence FROM cursors WHERE reader = '${READER}'), logged) AS matched
    FROM (SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS logged) AS log`,
  postgres: `SELECT last_sequence AS logged,
      CASE WHEN owner = 'workers' THEN (SELECT min(matched) FROM shards) ELSE last_sequence END AS matched
    FROM webhook_register, event_log`,
};

export function* readWebhookFigures(sql: Reads): Steps<WebhookFigures> {
  const row = yield* sql.row<WebhookFiguresRow>(
    `SELECT counts.*, ${FIRED[sql.kind]} AS fired, logged, matched,
       (SELECT created_ms FROM events WHERE sequence > matched ORDER BY sequence LIMIT 1) AS "unmatchedSinceMs"
     FROM (${POSITIONS[sql.kind]}) AS positions, (
       SELECT count(*) FILTER (WHERE enabled AND suspended IS NULL) AS active,
         count(*) FILTER (WHERE NOT enabled AND suspended IS NULL) AS disabled,
         count(suspended) AS suspended FROM webhooks
     ) AS counts`,
  );
  if (!row) return { active: 0, disabled: 0, suspended: 0, fired: 0, unmatched: 0 };
  const { logged, matched, ...figures } = row;
  return { ...withoutNulls(figures), unmatched: Math.max(0, logged - matched) };
}

export function* readFired(sql: Reads): Steps<Map<number, number>> {
  const rows = yield* sql.rows<{ webhook: number; fired: number }>(
    "SELECT webhook, last_sequence AS fired FROM queues",
  );
  return new Map(rows.map(({ webhook, fired }) => [webhook, fired]));
}

type QueueRow = Nullable<QueueFigures> & { readonly webhook: number };

const oldestIn = (lane: "first" | "retry"): string =>
  `(SELECT min(number) FROM ${rowsIn("sqlite", lane, "webhooks.id")})`;

/**
 * In SQLite, triggers update the numbers. PostgreSQL counts entries of an index: nothing is updated for each delivery, and nothing is
 * cached. See `pendingCount` for the cost; empty queues cost nothing.
 */
const QUEUES: Readonly<Record<Kind, string>> = {
  sqlite: `SELECT webhook, waiting, retrying, replaying,
      (SELECT min(created_ms) FROM deliveries WHERE number IN (${oldestIn("first")}, ${oldestIn("retry")})) AS "oldestMs"
    FROM webhooks JOIN queues ON queues.webhook = id
    WHERE enabled = 1 AND suspended IS NULL AND waiting + retrying + replaying > 0`,
  postgres: `WITH pending AS (
      SELECT webhook, lane, count(*) AS total, min(number) AS first FROM delivery_lanes WHERE ${IS_PENDING} GROUP BY webhook, lane
    ), totals AS (
      SELECT webhook, sum(total) FILTER (WHERE lane = 'first') AS waiting, sum(total) FILTER (WHERE lane = 'retry') AS retrying,
        sum(total) FILTER (WHERE lane = 'replay') AS replaying, min(first) FILTER (WHERE lane = 'first') AS first,
        min(first) FILTER (WHERE lane = 'retry') AS retry
      FROM pending GROUP BY webhook
    )
    SELECT webhook, coalesce(waiting, 0) AS waiting, coalesce(retrying, 0) AS retrying, coalesce(replaying, 0) AS replaying,
      (SELECT min(created_ms) FROM deliveries WHERE number IN (first, retry)) AS "oldestMs"
    FROM totals JOIN webhooks ON id = webhook WHERE enabled AND suspended IS NULL`,
};

export function* readQueueFigures(sql: Reads): Steps<Map<number, QueueFigures>> {
  const rows = yield* sql.rows<QueueRow>(QUEUES[sql.kind]);
  return new Map(rows.map(({ webhook, ...figures }) => [webhook, withoutNulls(figures)]));
}
