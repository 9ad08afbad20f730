/** Deliveries as a log. The reads of a call see one state of the database. */
import type { Postgres, Query } from "../../../postgres/connection.ts";
import type { DeliveryLogRows } from "../../delivery-queue.ts";
import {
  type AttemptRow,
  type DeliveryRow,
  isIndexed,
  latestFromRows,
  messageFromRow,
  ROWS_READ_AT_ONCE,
  recordFromRow,
} from "../../delivery-rows.ts";
import type { DeliveryFilter, DeliveryPage, DeliveryRange, DeliveryRecord } from "../../model/deliveries.ts";
import { entriesOf, type Lane } from "../../storage/lanes.ts";
import { MESSAGE_COLUMNS, type MessageRow, WITH_CONTENT } from "../contents.ts";
import { storableText } from "../sql.ts";
import { conditionsOf, createExpedite, createRequeue } from "./requeued-deliveries.ts";

type Row = DeliveryRow<string>;

/** All columns except the content. */
const COLUMNS = `webhook, number, id, sequence, event, height, block_id, state, reason, created_ms, next_attempt_ms, finished_ms,
  is_retracted, reverts`;

export function createPostgresDeliveryLog(postgres: Postgres): DeliveryLogRows {
  const read = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
    postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", ({ query }) => work(query));
  return {
    page: (webhook, filter, range) => read((query) => readPage(query, webhook, filter, range)),
    find: (webhook, key) => read((query) => find(query, webhook, key)),
    latest: (webhook, limit) => read((query) => readLatest(query, webhook, limit)),
    async message(number) {
      const [row] = await postgres.query<MessageRow>(
        `SELECT ${MESSAGE_COLUMNS} FROM deliveries ${WITH_CONTENT} WHERE deliveries.number = $1`,
        [number],
      );
      return row && messageFromRow(row);
    },
    ...createRequeue(postgres),
    ...createExpedite(postgres),
  };
}

async function readPage(
  query: Query,
  webhook: number,
  filter: DeliveryFilter,
  { before = Number.MAX_SAFE_INTEGER, limit }: DeliveryRange,
): Promise<DeliveryPage> {
  const { where, values } = conditionsOf(filter, 4);
  // One row more than the limit shows whether there is a next page.
  const rows = await query<Row>(pageSql(filter, where), [webhook, before, limit + 1, ...values]);
  const records = await toRecords(query, rows.slice(0, limit));
  const last = records.at(-1);
  if (rows.length > limit && last) return { records, next: last.number };
  const next = isIndexed(filter) ? undefined : await lastRead(query, webhook, before);
  return next === undefined ? { records } : { records, next };
}

/**
 * Deliveries of a webhook before a number, newest first. Only one index has this order. With a condition on the webhook alone,
 * the server could choose the order of all deliveries, and read those of all other webhooks.
 */
const BEFORE = "webhook >= $1 AND (webhook, number) < ($1, $2)";
const NEWEST_FIRST = "ORDER BY webhook DESC, number DESC";

/** Returns SQL with the parameters webhook, exclusive upper bound, and limit; those of the filter follow. */
function pageSql(filter: DeliveryFilter, where: string): string {
  const rows = `SELECT ${COLUMNS} FROM deliveries WHERE`;
  // Deliveries of a height have an index in no order; the sum prevents that another one is used for its order.
  if (filter.height !== undefined)
    return `${rows} webhook = $1 AND number < $2 ${where} ORDER BY number + 0 DESC LIMIT $3`;
  if (filter.state === "failed" && isIndexed(filter))
    return `${rows} number IN (SELECT number FROM ${entriesOf("failed", "$1")} AND number < $2
      ORDER BY number DESC LIMIT $3) ${where} ORDER BY number DESC`;
  return `SELECT * FROM (${rows} ${BEFORE} ${NEWEST_FIRST} LIMIT ${ROWS_READ_AT_ONCE}) AS latest
    WHERE true ${where} ${NEWEST_FIRST} LIMIT $3`;
}

/** Returns the last number that a page could read; undefined if there are no further ones. */
async function lastRead(query: Query, webhook: number, before: number): Promise<number | undefined> {
  const [row] = await query<{ number: string }>(
    `SELECT number FROM deliveries WHERE ${BEFORE} ${NEWEST_FIRST} OFFSET ${ROWS_READ_AT_ONCE - 1} LIMIT 1`,
    [webhook, before],
  );
  return row && Number(row.number);
}

async function find(
  query: Query,
  webhook: number,
  key: number | string,
): Promise<DeliveryRecord | undefined> {
  const [condition, value] = typeof key === "number" ? ["number = $2", key] : ["id = $2", storableText(key)];
  const rows = await query<Row>(`SELECT ${COLUMNS} FROM deliveries WHERE webhook = $1 AND ${condition}`, [
    webhook,
    value,
  ]);
  const [record] = await toRecords(query, rows);
  return record;
}

/** Reads the attempts of all rows together. */
async function toRecords(query: Query, rows: readonly Row[]): Promise<DeliveryRecord[]> {
  if (rows.length === 0) return [];
  const attempts = new Map<string, AttemptRow<string>[]>(rows.map(({ number }) => [number, []]));
  const found = await query<AttemptRow<string> & { delivery: string }>(
    `SELECT delivery, started_ms, duration_ms, status, response, error FROM attempts
     WHERE delivery = ANY ($1) ORDER BY delivery, number`,
    [[...attempts.keys()]],
  );
  for (const attempt of found) attempts.get(attempt.delivery)?.push(attempt);
  return rows.map((row) => recordFromRow(row, attempts.get(row.number) ?? []));
}

async function readLatest(query: Query, webhook: number, limit: number) {
  const rows = await query<Pick<Row, "state" | "created_ms" | "finished_ms">>(
    `SELECT state, created_ms, finished_ms FROM deliveries WHERE ${BEFORE} AND sequence IS NOT NULL
     ${NEWEST_FIRST} LIMIT $3`,
    [webhook, Number.MAX_SAFE_INTEGER, limit],
  );
  const oldest = (lane: Lane) =>
    `(SELECT created_ms FROM deliveries WHERE number = (SELECT min(number) FROM ${entriesOf(lane, "$1")}))`;
  const [waiting] = await query<{ first_ms: string | null; retry_ms: string | null }>(
    `SELECT ${oldest("first")} AS first_ms, ${oldest("retry")} AS retry_ms`,
    [webhook],
  );
  return latestFromRows(rows, [waiting?.first_ms ?? null, waiting?.retry_ms ?? null]);
}
