/**
 * Rows of deliveries as values, and filters as conditions, for every implementation of the log. The columns have the same
 * names in each database; their 64-bit integers are numbers or decimal text.
 */
import { withoutNulls } from "../platform/without-nulls.ts";
import type { Content } from "../subscriptions/content.ts";
import type {
  Attempt,
  DeliveryFilter,
  DeliveryMessage,
  DeliveryRecord,
  DeliveryState,
  LatestDeliveries,
} from "./model/deliveries.ts";

type Integer = number | string;

export type DeliveryRow<Int extends Integer> = {
  readonly number: Int;
  readonly id: string;
  readonly sequence: Int | null;
  readonly event: string;
  readonly height: Int | null;
  readonly block_id: string | null;
  readonly state: DeliveryState;
  readonly reason: string | null;
  readonly created_ms: Int;
  readonly next_attempt_ms: Int | null;
  readonly finished_ms: Int | null;
  readonly is_retracted: number | boolean | null;
  readonly reverts: string | null;
};

export type AttemptRow<Int extends Integer> = {
  readonly started_ms: Int;
  readonly duration_ms: Int;
  readonly status: number | null;
  readonly response: string | null;
  readonly error: string | null;
};

/** Row of a delivery with its content. */
export type MessageRow<Int extends Integer> = {
  readonly webhook: Int;
  readonly id: string;
  readonly sequence: Int | null;
  readonly event: string;
  readonly height: Int | null;
  readonly block_id: string | null;
  readonly reverts: string | null;
  readonly created_ms: Int;
  /** Null: the time of the delivery. */
  readonly time_ms: Int | null;
} & ContentRow;

type ContentRow = {
  readonly data: string | null;
  readonly truncated: number | boolean | null;
  readonly link: string | null;
};

/** @param attempts attempts of the delivery, in chronological order */
export const recordFromRow = (
  row: DeliveryRow<Integer>,
  attempts: readonly AttemptRow<Integer>[],
): DeliveryRecord =>
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

const attemptFromRow = (row: AttemptRow<Integer>): Attempt =>
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
  rows: readonly Pick<DeliveryRow<Integer>, "state" | "created_ms" | "finished_ms">[],
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

export const messageFromRow = (row: MessageRow<Integer>): DeliveryMessage =>
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

/** Maximum rows to read for a page: some milliseconds, for which SQLite blocks the thread. */
export const ROWS_READ_AT_ONCE = 10_000;

/** Returns whether an index finds all matching rows. */
export const isIndexed = ({ state, height, ...rest }: DeliveryFilter): boolean =>
  height !== undefined || (Object.keys(rest).length === 0 && (state === undefined || state === "failed"));

/** A condition without its right side, and the value there. */
export type Comparison = readonly [condition: string, value: string | number];

/** Returns the conditions of a filter; all of them must hold. */
export function comparisonsOf({ state, event, height, fromMs, toMs }: DeliveryFilter): Comparison[] {
  const comparisons: [condition: string, value: string | number | undefined][] = [
    ["state =", state],
    ["event =", event],
    ["height =", height],
    ["created_ms >=", fromMs],
    ["created_ms <=", toMs],
  ];
  return comparisons.flatMap(([condition, value]) =>
    value === undefined ? [] : [[condition, value] as const],
  );
}
