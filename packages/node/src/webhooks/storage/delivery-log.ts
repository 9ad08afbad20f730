/** Deliveries as a log: their states and attempts, and operations to send them again or sooner (`resend.ts`). */
import { withoutNulls } from "../../platform/without-nulls.ts";
import { WebhookError } from "../error.ts";
import type {
  DeliveryFilter,
  DeliveryMessage,
  DeliveryPage,
  DeliveryRange,
  DeliveryRecord,
  EndedFilter,
  LatestDeliveries,
  LatestDelivery,
} from "../model/deliveries.ts";
import {
  ATTEMPT_COLUMNS,
  type AttemptRow,
  conditionsOf,
  isIndexed,
  MESSAGE_COLUMNS,
  type MessageRow,
  messageFromRow,
  RECORD_COLUMNS,
  type RecordRow,
  ROWS_READ_AT_ONCE,
  recordFromRow,
} from "./delivery-rows.ts";
import { type Lane, rowsIn } from "./lanes.ts";
import { changeQueue, type Requeued } from "./locks.ts";
import { expediteRange, type LogRange, requeueRange, sendSome } from "./resend.ts";
import {
  type Kind,
  type Nullable,
  type Reads,
  type Sql,
  type Steps,
  type Store,
  storableText,
} from "./sql.ts";

/**
 * Deliveries of a webhook before a number, newest first. In PostgreSQL, only one index has this order: with a condition on the webhook
 * alone, the server could choose the order of all deliveries, and read those of all other webhooks.
 */
const BEFORE: Readonly<Record<Kind, string>> = {
  sqlite: "webhook = $1 AND number < $2",
  postgres: "webhook >= $1 AND (webhook, number) < ($1, $2)",
};
const NEWEST_FIRST = "ORDER BY webhook DESC, number DESC";

/** Changes throw `WebhookError` QUEUE_ENDING while the queue is finished step by step: later steps would finish what they put into it. */
export class DeliveryLogRows {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns deliveries with smaller numbers than `before`, newest first. */
  page(webhook: number, filter: DeliveryFilter, range: DeliveryRange): Promise<DeliveryPage> {
    return this.#store.snapshot((sql) => readPage(sql, webhook, filter, range));
  }

  /** Finds deliveries by their numbers or ids, each once. */
  find(webhook: number, keys: readonly (number | string)[]): Promise<readonly DeliveryRecord[]> {
    const numbers = keys.filter((key) => typeof key === "number");
    const ids = keys.filter((key) => typeof key === "string").map(storableText);
    return this.#store.snapshot(function* (sql) {
      const rows = yield* sql.rows<RecordRow>(
        `SELECT ${RECORD_COLUMNS} FROM deliveries WHERE webhook = $1 AND (number = ANY ($2) OR id = ANY ($3))`,
        [webhook, numbers, ids],
      );
      return yield* toRecords(sql, rows);
    });
  }

  /** Returns the latest deliveries up to the limit, without pings. */
  latest(webhook: number, limit: number): Promise<LatestDeliveries> {
    return this.#store.snapshot(function* (sql) {
      const rows = yield* sql.rows<Nullable<LatestDelivery>>(
        `SELECT state, created_ms AS "createdMs", finished_ms AS "finishedMs"
         FROM deliveries WHERE ${BEFORE[sql.kind]} AND sequence IS NOT NULL ${NEWEST_FIRST} LIMIT $3`,
        [webhook, Number.MAX_SAFE_INTEGER, limit],
      );
      const oldest = (lane: Lane) =>
        `SELECT created_ms AS ms FROM deliveries WHERE number = (SELECT min(number) FROM ${rowsIn(sql.kind, lane, "$1")})`;
      const waiting = yield* sql.rows<{ ms: number }>(`${oldest("first")} UNION ALL ${oldest("retry")}`, [
        webhook,
      ]);
      return {
        deliveries: rows.map((row) => withoutNulls(row)),
        ...(waiting.length > 0 && { oldestWaitingMs: Math.min(...waiting.map(({ ms }) => ms)) }),
      };
    });
  }

  message(number: number): Promise<DeliveryMessage | undefined> {
    return this.#store.read(function* (sql) {
      const row = yield* sql.row<MessageRow>(
        `SELECT ${MESSAGE_COLUMNS} FROM deliveries JOIN contents ON contents.number = deliveries.content
         WHERE deliveries.number = $1`,
        [number],
      );
      return row && messageFromRow(row);
    });
  }

  /**
   * Puts matching deliveries back into the queue, from the next `limit` after a number, oldest first: all, or all
   * failed deliveries; without pings.
   */
  requeueMatching(webhook: number, filter: EndedFilter, range: LogRange, atMs: number): Promise<Requeued> {
    return this.#change(webhook, (sql) => requeueRange(sql, { webhook, filter, ...range, atMs }));
  }

  /**
   * Sends deliveries now, each with the full schedule of retries: a finished delivery returns to the queue, a pending
   * delivery becomes due. In strict order, the first pending delivery becomes due, so that the others follow in order.
   * Resolves to the number of deliveries, not counting retracted deliveries.
   */
  async sendNow(webhook: number, numbers: readonly number[], atMs: number): Promise<number> {
    return (await this.#change(webhook, (sql) => sendSome(sql, webhook, numbers, atMs))).count;
  }

  /** Makes matching pending deliveries of a lane due, from the next `limit` after a number. First attempts keep their order. */
  expediteMatching(
    webhook: number,
    lane: Lane,
    filter: Omit<DeliveryFilter, "state">,
    range: LogRange,
    atMs: number,
  ): Promise<Requeued> {
    return this.#change(webhook, (sql) => expediteRange(sql, { webhook, lane, filter, ...range, atMs }));
  }

  #change(webhook: number, change: (sql: Sql) => Steps<Requeued>): Promise<Requeued> {
    return this.#store.write((sql) => changeQueue(sql, webhook, unlessEnding(sql, webhook, change(sql))));
  }
}

function* unlessEnding(sql: Reads, webhook: number, change: Steps<Requeued>): Steps<Requeued> {
  // The end of an empty queue, as at the first start, finishes no delivery.
  if (yield* sql.row("SELECT 1 FROM finishing_queues WHERE webhook = $1 AND up_to > 0", [webhook]))
    throw new WebhookError(
      "QUEUE_ENDING",
      `the queue of webhook ${webhook} is being emptied, which takes seconds: send its deliveries again afterwards`,
    );
  return yield* change;
}

export function* readPage(
  sql: Reads,
  webhook: number,
  filter: DeliveryFilter,
  { before = Number.MAX_SAFE_INTEGER, limit }: DeliveryRange,
): Steps<DeliveryPage> {
  const { where, values } = conditionsOf(filter, 4);
  // One row more than the limit shows whether there is a next page.
  const rows = yield* sql.rows<RecordRow>(pageSql(sql.kind, filter, where), [
    webhook,
    before,
    limit + 1,
    ...values,
  ]);
  const records = yield* toRecords(sql, rows.slice(0, limit));
  const last = records.at(-1);
  if (rows.length > limit && last) return { records, next: last.number };
  if (isIndexed(filter)) return { records };
  const reach = yield* sql.row<{ number: number }>(lastRead(sql.kind), [webhook, before]);
  return reach ? { records, next: reach.number } : { records };
}

/** Returns SQL with the parameters webhook, exclusive upper bound, and limit; those of the filter follow. */
function pageSql(kind: Kind, filter: DeliveryFilter, where: string): string {
  const rows = `SELECT ${RECORD_COLUMNS} FROM deliveries WHERE`;
  if (kind === "sqlite") {
    const reach = isIndexed(filter) ? "" : `AND number >= coalesce((${lastRead(kind)}), 0)`;
    return `${rows} webhook = $1 AND number < $2 ${reach} ${where} ORDER BY number DESC LIMIT $3`;
  }
  // Deliveries of a height have an index in no order; the sum prevents that another one is used for its order.
  if (filter.height !== undefined)
    return `${rows} webhook = $1 AND number < $2 ${where} ORDER BY number + 0 DESC LIMIT $3`;
  if (filter.state === "failed" && isIndexed(filter))
    return `${rows} number IN (SELECT number FROM ${rowsIn(kind, "failed", "$1")} AND number < $2
      ORDER BY number DESC LIMIT $3) ${where} ORDER BY number DESC`;
  const latest = `SELECT * FROM deliveries WHERE ${BEFORE[kind]} ${NEWEST_FIRST} LIMIT ${ROWS_READ_AT_ONCE}`;
  return `SELECT ${RECORD_COLUMNS} FROM (${latest}) AS latest WHERE true ${where} ${NEWEST_FIRST} LIMIT $3`;
}

/** Returns SQL for the last number that a page can read; no row if there are no further ones. */
const lastRead = (kind: Kind): string =>
  `SELECT number FROM deliveries WHERE ${BEFORE[kind]} ${NEWEST_FIRST} LIMIT 1 OFFSET ${ROWS_READ_AT_ONCE - 1}`;

/** Reads the attempts of all rows together. */
function* toRecords(sql: Reads, rows: readonly RecordRow[]): Steps<DeliveryRecord[]> {
  if (rows.length === 0) return [];
  const attempts = new Map<number, AttemptRow[]>(rows.map(({ number }) => [number, []]));
  const order = sql.kind === "sqlite" ? "attempt" : "number";
  const found = yield* sql.rows<AttemptRow>(
    `SELECT ${ATTEMPT_COLUMNS} FROM attempts
     WHERE delivery = ANY ($1) ORDER BY delivery, ${order}`,
    [[...attempts.keys()]],
  );
  for (const attempt of found) attempts.get(attempt.delivery)?.push(attempt);
  return rows.map((row) => recordFromRow(row, attempts.get(row.number) ?? []));
}
