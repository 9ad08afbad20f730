/**
 * Drops deliveries with their attempts, and contents that no delivery has: a range of the oldest rows at a
 * time, so that no other writer waits for long. The steps of all processes that drop rows wait for each other. All
 * writers lock deliveries by ascending number.
 */
import { present } from "../../platform/present.ts";
import type { DeliveryRetention, OverfullQueue } from "../model/deliveries.ts";
import { isIn, isOneOf, rowsIn } from "./lanes.ts";
import { changeQueue } from "./locks.ts";
import type { Kind, Parameters, Sql, Steps, Store } from "./sql.ts";

/** Rows read or changed in one transaction: some milliseconds. */
const ROWS_AT_ONCE = 500;

/** Steps that keep the deliveries within their bounds; each is a short transaction. */
export class RetentionSteps {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Reads the next deliveries after a number, and drops expired ones. Resolves to the last number that was
   * read; undefined if all later deliveries are too young.
   */
  dropBehind(
    after: number,
    { maxAgeMs, maxFailedAgeMs, maxDeliveries, keptBlocks }: DeliveryRetention,
    nowMs: number,
  ): Promise<number | undefined> {
    return this.#store.write(function* (sql) {
      const row = yield* sql.row<Range>(
        `SELECT max(number) AS last, min(created_ms) AS oldest_ms, max(created_ms) AS newest_ms,
           (SELECT max(number) FROM deliveries) AS newest, (${HEIGHT[sql.kind]}) AS height
         FROM (SELECT number, created_ms FROM deliveries WHERE number > $1 ORDER BY number LIMIT ${ROWS_AT_ONCE}) AS next`,
        [after],
      );
      const range = present(row, "a row of aggregates");
      if (range.last === null) return undefined;
      const surplus = range.newest - maxDeliveries;
      const createdBeforeMs = nowMs - maxAgeMs;
      // If the clock was set back, old deliveries may follow deliveries with a later time.
      const isYoung = range.oldest_ms >= createdBeforeMs && range.newest_ms <= nowMs;
      if (isYoung && after >= surplus) return undefined;
      const { last } = range;
      // Without blocks, no facts can be retracted.
      const safeHeight = range.height === null ? Number.MAX_SAFE_INTEGER : range.height - keptBlocks;
      yield* dropExpired(sql, [after, last, safeHeight, surplus, nowMs - maxFailedAgeMs, createdBeforeMs]);
      return last;
    });
  }

  /** Returns the next overfull queue after a webhook. */
  nextOverfull(after: number, maxWaiting: number): Promise<OverfullQueue | undefined> {
    return this.#store.read(function* (sql) {
      const queue = yield* sql.row<{ webhook: number; count: number }>(NEXT_OVERFULL[sql.kind], [
        after,
        maxWaiting,
      ]);
      return queue && { webhook: queue.webhook, surplus: queue.count - maxWaiting };
    });
  }

  /** Fails the oldest deliveries of an overfull queue. Resolves to their number, which one step limits. */
  async failSurplus({ webhook, surplus }: OverfullQueue, nowMs: number): Promise<number> {
    const { count } = await this.#store.write((sql) =>
      changeQueue(sql, webhook, failOldest(sql, webhook, Math.min(surplus, ROWS_AT_ONCE), nowMs)),
    );
    return count;
  }

  /** Drops some deliveries of removed webhooks; resolves to `false` if none remain. */
  dropRemoved(): Promise<boolean> {
    return this.#store.write(function* (sql) {
      const removed = yield* sql.row<{ id: number }>("SELECT id FROM removed_webhooks ORDER BY id LIMIT 1");
      if (!removed) return false;
      const { id } = removed;
      yield* waitForOtherSteps(sql);
      const deliveries = yield* drop(sql, "webhook = $1", [id]);
      const events = yield* sql.change(
        `DELETE FROM unconfirmed_events WHERE webhook = $1 AND sequence IN
         (SELECT sequence FROM unconfirmed_events WHERE webhook = $1 ORDER BY sequence LIMIT ${ROWS_AT_ONCE})`,
        [id],
      );
      if (deliveries + events === 0) yield* sql.change("DELETE FROM removed_webhooks WHERE id = $1", [id]);
      return true;
    });
  }
}

type Range = {
  readonly last: number | null;
  readonly oldest_ms: number;
  readonly newest_ms: number;
  readonly newest: number;
  /** Height of the chain; null without blocks. */
  readonly height: number | null;
};

const HEIGHT: Readonly<Record<Kind, string>> = {
  sqlite: "SELECT max(height) FROM blocks",
  postgres: "SELECT height FROM head WHERE height > 0",
};

const IS_EXPIRED = `number > $1 AND number <= $2 AND finished_ms IS NOT NULL AND (height IS NULL OR height <= $3)
  AND (number <= $4 OR finished_ms < CASE state WHEN 'failed' THEN CAST ($5 AS bigint) ELSE CAST ($6 AS bigint) END)`;

/** Locks the queues of the deliveries first, because a replay or a client can put them into the queue again. */
function* dropExpired(sql: Sql, values: readonly number[]): Steps<void> {
  if (sql.kind === "sqlite") {
    yield* drop(sql, IS_EXPIRED, values);
    return;
  }
  const queues = yield* sql.rows<{ webhook: number }>(
    `SELECT DISTINCT webhook FROM deliveries WHERE ${IS_EXPIRED}`,
    values,
  );
  if (queues.length === 0) return;
  yield* waitForOtherSteps(sql);
  const webhooks = queues.map(({ webhook }) => webhook);
  yield* sql.rows("SELECT 1 FROM queues WHERE webhook = ANY ($1) ORDER BY webhook FOR UPDATE", [webhooks]);
  yield* drop(sql, `${IS_EXPIRED} AND webhook = ANY ($7)`, [...values, webhooks]);
}

/** Two steps that drop the last two deliveries of a content at the same time would both keep the content. */
function* waitForOtherSteps(sql: Sql): Steps<void> {
  if (sql.kind === "postgres")
    yield* sql.row("SELECT pg_advisory_xact_lock(hashtext('retention of deliveries'))");
}

/** Drops the oldest deliveries that match a condition. Returns their number. In SQLite, attempts and contents are dropped with them. */
function* drop(sql: Sql, condition: string, values: Parameters): Steps<number> {
  const oldest = `SELECT number FROM deliveries WHERE ${condition} ORDER BY number LIMIT ${ROWS_AT_ONCE} FOR UPDATE`;
  const statement = `DELETE FROM deliveries WHERE number ${isOneOf(sql.kind, oldest)}`;
  if (sql.kind === "sqlite") return yield* sql.change(statement, values);
  const dropped = yield* sql.rows<{ number: string; content: string }>(
    `${statement} RETURNING number, content`,
    values,
  );
  if (dropped.length === 0) return 0;
  yield* sql.change("DELETE FROM attempts WHERE delivery = ANY ($1)", [dropped.map(({ number }) => number)]);
  yield* sql.change(
    `DELETE FROM contents WHERE number = ANY ($1)
     AND NOT EXISTS (SELECT FROM deliveries WHERE deliveries.content = contents.number)`,
    [dropped.map(({ content }) => content)],
  );
  return dropped.length;
}

const FIRST = rowsIn("postgres", "first", "queues.webhook");

/**
 * In PostgreSQL, the sequences of the oldest first attempt and of the last delivery are an upper bound on the number of first attempts,
 * apart from the ping of a new webhook. Only queues that exceed the maximum by this bound are counted.
 */
const NEXT_OVERFULL: Readonly<Record<Kind, string>> = {
  sqlite: `SELECT webhook, waiting AS count FROM queues WHERE webhook > $1 AND waiting > $2 ORDER BY webhook LIMIT 1`,
  postgres: `SELECT queues.webhook, waiting.count
    FROM queues
    CROSS JOIN LATERAL (SELECT number FROM ${FIRST} ORDER BY number LIMIT 1) AS first
    CROSS JOIN LATERAL (SELECT sequence FROM deliveries WHERE deliveries.webhook = queues.webhook AND number >= first.number
      AND sequence IS NOT NULL ORDER BY webhook, number LIMIT 1) AS oldest
    CROSS JOIN LATERAL (SELECT CASE WHEN last_sequence - oldest.sequence + 2 <= $2 THEN 0 ELSE
      (SELECT count(*) FROM ${FIRST}) END AS count
      OFFSET 0) AS waiting
    WHERE queues.webhook > $1 AND last_sequence + 2 > $2 AND waiting.count > $2 ORDER BY queues.webhook LIMIT 1`,
};

export function* failOldest(
  sql: Sql,
  webhook: number,
  limit: number,
  nowMs: number,
): Steps<{ count: number }> {
  const { kind } = sql;
  const oldest = `SELECT number FROM ${rowsIn(kind, "first", "$1")} ORDER BY number LIMIT $3`;
  const pending = `SELECT number FROM deliveries WHERE number ${isOneOf(kind, oldest)} AND ${isIn(kind, "first")}
    ORDER BY number FOR UPDATE`;
  const count = yield* sql.change(
    `UPDATE deliveries SET state = 'failed', reason = 'the queue was full', finished_ms = $2 WHERE number ${isOneOf(kind, pending)}`,
    [webhook, nowMs, limit],
  );
  return { count };
}
