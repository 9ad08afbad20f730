/** Rows of deliveries as values, filters of them as conditions, and their contents. */
import { withoutNulls } from "../../platform/without-nulls.ts";
import type {
  Attempt,
  DeliveryFilter,
  DeliveryMessage,
  DeliveryRecord,
  NewDelivery,
  TimedContent,
} from "../model/deliveries.ts";
import { type Flag, given, type Kind, type Nullable, type Sql, type Steps } from "./sql.ts";

export const RECORD_COLUMNS = `number, id, sequence, event, height, block_id AS "blockId", state, reason, is_retracted AS "isUndone",
  reverts, created_ms AS "createdMs", next_attempt_ms AS "nextAttemptMs", finished_ms AS "finishedMs"`;

export const ATTEMPT_COLUMNS = `delivery, started_ms AS "startedMs", duration_ms AS "durationMs", status, response,
  response_headers AS "responseHeaders", error`;

/** Columns of a message, in a row of deliveries joined with its content. Without a time, that of the delivery counts. */
export const MESSAGE_COLUMNS = `deliveries.webhook, deliveries.id, deliveries.sequence, deliveries.event, deliveries.height,
  deliveries.block_id AS "blockId", deliveries.reverts, coalesce(contents.time_ms, deliveries.created_ms) AS "timeMs",
  contents.data AS "dataText", contents.truncated, contents.link`;

export type RecordRow = Nullable<Omit<DeliveryRecord, "attempts" | "isUndone">> & {
  readonly isUndone: Flag | null;
};
export type AttemptRow = Nullable<Attempt> & { readonly delivery: number };
export type MessageRow = Nullable<Omit<DeliveryMessage, "content">> & {
  readonly dataText: string | null;
  readonly truncated: Flag | null;
  readonly link: string | null;
};

/** @param attempts attempts of the delivery, in chronological order */
export const recordFromRow = (row: RecordRow, attempts: readonly AttemptRow[]): DeliveryRecord => ({
  ...withoutNulls({ ...row, isUndone: row.isUndone ? (true as const) : null }),
  attempts: attempts.map(({ delivery, ...attempt }) => withoutNulls(attempt)),
});

export const messageFromRow = ({
  webhook,
  id,
  sequence,
  event,
  height,
  blockId,
  reverts,
  timeMs,
  dataText,
  truncated,
  link,
}: MessageRow): DeliveryMessage => ({
  ...withoutNulls({ webhook, id, sequence, event, height, blockId, reverts, timeMs }),
  content: withoutNulls({ dataText, truncated: truncated === null ? null : (true as const), link }),
});

/** Stores contents. Returns their numbers in the same order. */
export function* insertContents(sql: Sql, contents: readonly TimedContent[]): Steps<number[]> {
  if (contents.length === 0) return [];
  const rows = contents.map(({ dataText, truncated, link, timeMs }) => [
    dataText ?? null,
    truncated ?? null,
    link ?? null,
    timeMs ?? null,
  ]);
  const columns = { data: "text", truncated: "boolean", link: "text", time_ms: "bigint" } as const;
  const { table, values } = given(sql.kind, columns, rows);
  const inserted = yield* sql.rows<{ number: number }>(
    `INSERT INTO contents (data, truncated, link, time_ms)
     SELECT data, truncated, link, time_ms FROM ${table} ORDER BY place RETURNING number`,
    values,
  );
  return inserted.map(({ number }) => number);
}

/** SQL for the next number of a delivery. */
export const NEXT_NUMBER: Readonly<Record<Kind, string>> = {
  sqlite: "NULL",
  postgres: "nextval('delivery_numbers')",
};

const DELIVERY = {
  webhook: "bigint",
  id: "text",
  sequence: "bigint",
  event: "text",
  height: "bigint",
  block_id: "text",
  is_retracted: "boolean",
  reverts: "text",
  replay: "bigint",
  content: "bigint",
} as const;
const DELIVERY_NAMES = Object.keys(DELIVERY).join(", ");

/** Inserts deliveries in their order, with ascending numbers. */
export function* insertDeliveries(sql: Sql, deliveries: readonly NewDelivery[], atMs: number): Steps<void> {
  const rows = deliveries.map((delivery) => [
    delivery.webhook,
    delivery.id,
    delivery.sequence ?? null,
    delivery.event,
    delivery.height ?? null,
    delivery.blockId ?? null,
    delivery.isRetractable ? false : null,
    delivery.reverts ?? null,
    delivery.replay ?? null,
    delivery.content,
  ]);
  const { table, values } = given(sql.kind, DELIVERY, rows);
  yield* sql.change(
    `INSERT INTO deliveries (number, ${DELIVERY_NAMES}, state, created_ms, target_number)
     SELECT ${NEXT_NUMBER[sql.kind]}, delivery.*, 'pending', $${values.length + 1},
       coalesce((SELECT target_number FROM webhooks WHERE id = delivery.webhook), 0)
     FROM (SELECT ${DELIVERY_NAMES} FROM ${table} ORDER BY place) AS delivery`,
    [...values, atMs],
  );
}

/** Returns finished deliveries to the replay lane. */
export function* putAgain(
  sql: Sql,
  again: readonly { readonly number: number; readonly position: number }[],
): Steps<void> {
  const rows = again.map(({ number, position }) => [number, position]);
  const { table, values } = given(sql.kind, { delivery: "bigint", position: "bigint" }, rows);
  yield* sql.change(
    `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = NULL, finished_ms = NULL, reason = NULL,
       replay = given.position,
       target_number = coalesce((SELECT target_number FROM webhooks WHERE id = webhook), target_number)
     FROM ${table} WHERE deliveries.number = given.delivery`,
    values,
  );
}

/** Maximum rows to read for a page: some milliseconds, for which SQLite blocks the thread. */
export const ROWS_READ_AT_ONCE = 10_000;

/** Returns whether an index finds all matching rows. */
export const isIndexed = ({ state, height, ...rest }: DeliveryFilter): boolean =>
  height !== undefined || (Object.keys(rest).length === 0 && (state === undefined || state === "failed"));

/** Returns a filter as conditions in SQL, whose parameters are numbered from `first`. */
export function conditionsOf(
  { state, event, height, fromMs, toMs }: DeliveryFilter,
  first: number,
): { readonly where: string; readonly values: readonly (string | number)[] } {
  const comparisons = Object.entries({
    "event =": event,
    "height =": height,
    "created_ms >=": fromMs,
    "created_ms <=": toMs,
  });
  const given = comparisons.flatMap(([condition, value]) =>
    value === undefined ? [] : [[condition, value] as const],
  );
  const conditions = given.map(([condition], index) => `AND ${condition} $${first + index}`);
  // Inlined, so that SQLite can use the index of failed deliveries; the value is one of four constants.
  if (state !== undefined) conditions.push(`AND state = '${state}'`);
  return { where: conditions.join(" "), values: given.map(([, value]) => value) };
}
