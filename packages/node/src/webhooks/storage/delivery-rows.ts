/** Rows of deliveries as values, filters of them as conditions, and their contents. */
import { withoutNulls } from "../../platform/without-nulls.ts";
import type { Content } from "../../subscriptions/content.ts";
import type {
  Attempt,
  DeliveryFilter,
  DeliveryMessage,
  DeliveryRecord,
  DeliveryState,
  LatestDeliveries,
  TimedContent,
} from "../model/deliveries.ts";
import { type Flag, given, type Integer, type Sql, type Steps } from "./sql.ts";

/** Columns of a message, in a row of deliveries joined with its content. */
export const MESSAGE_COLUMNS = `deliveries.webhook, deliveries.id, deliveries.sequence, deliveries.event, deliveries.height,
  deliveries.block_id, deliveries.reverts, deliveries.created_ms, contents.time_ms, contents.data, contents.truncated, contents.link`;

export type DeliveryRow = {
  readonly number: Integer;
  readonly id: string;
  readonly sequence: Integer | null;
  readonly event: string;
  readonly height: Integer | null;
  readonly block_id: string | null;
  readonly state: DeliveryState;
  readonly reason: string | null;
  readonly created_ms: Integer;
  readonly next_attempt_ms: Integer | null;
  readonly finished_ms: Integer | null;
  readonly is_retracted: Flag | null;
  readonly reverts: string | null;
};

export type AttemptRow = {
  readonly started_ms: Integer;
  readonly duration_ms: Integer;
  readonly status: number | null;
  readonly response: string | null;
  readonly error: string | null;
};

/** Row of a delivery with its content. */
export type MessageRow = {
  readonly webhook: Integer;
  readonly id: string;
  readonly sequence: Integer | null;
  readonly event: string;
  readonly height: Integer | null;
  readonly block_id: string | null;
  readonly reverts: string | null;
  readonly created_ms: Integer;
  /** Null: the time of the delivery. */
  readonly time_ms: Integer | null;
} & ContentRow;

type ContentRow = {
  readonly data: string | null;
  readonly truncated: Flag | null;
  readonly link: string | null;
};

/** @param attempts attempts of the delivery, in chronological order */
export const recordFromRow = (row: DeliveryRow, attempts: readonly AttemptRow[]): DeliveryRecord =>
  withoutNulls({
    number: Number(row.number),
    id: row.id,
    sequence: toNumber(row.sequence),
    event: row.event,
    height: toNumber(row.height),
    blockId: row.block_id,
    state: row.state,
    reason: row.reason,
    isUndone: row.is_retracted ? (true as const) : null,
    reverts: row.reverts,
    createdMs: Number(row.created_ms),
    nextAttemptMs: toNumber(row.next_attempt_ms),
    finishedMs: toNumber(row.finished_ms),
    attempts: attempts.map(attemptFromRow),
  });

const attemptFromRow = (row: AttemptRow): Attempt =>
  withoutNulls({
    startedMs: Number(row.started_ms),
    durationMs: Number(row.duration_ms),
    status: row.status,
    response: row.response,
    error: row.error,
  });

/**
 * @param rows newest deliveries, newest first
 * @param oldestMs creation times of the oldest first attempt and the oldest retry, if any
 */
export function latestFromRows(
  rows: readonly Pick<DeliveryRow, "state" | "created_ms" | "finished_ms">[],
  oldestMs: readonly (Integer | null)[],
): LatestDeliveries {
  const waitingMs = oldestMs.flatMap((ms) => toNumber(ms) ?? []);
  return {
    deliveries: rows.map(({ state, created_ms, finished_ms }) =>
      withoutNulls({ state, createdMs: Number(created_ms), finishedMs: toNumber(finished_ms) }),
    ),
    ...(waitingMs.length > 0 && { oldestWaitingMs: Math.min(...waitingMs) }),
  };
}

export const messageFromRow = (row: MessageRow): DeliveryMessage =>
  withoutNulls({
    webhook: Number(row.webhook),
    id: row.id,
    sequence: toNumber(row.sequence),
    event: row.event,
    height: toNumber(row.height),
    blockId: row.block_id,
    reverts: row.reverts,
    timeMs: Number(row.time_ms ?? row.created_ms),
    content: contentFromRow(row),
  });

const contentFromRow = ({ data, truncated, link }: ContentRow): Content =>
  withoutNulls({ dataText: data, truncated: truncated === null ? null : (true as const), link });

const toNumber = (value: Integer | null): number | null => (value === null ? null : Number(value));

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
  const inserted = yield* sql.rows<{ number: Integer }>(
    `INSERT INTO contents (data, truncated, link, time_ms)
     SELECT data, truncated, link, time_ms FROM ${table} ORDER BY place RETURNING number`,
    values,
  );
  return inserted.map(({ number }) => Number(number));
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
