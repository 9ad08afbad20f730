/** Deliveries as a log: their states and attempts, and operations to put them back into the queue. */
import { withoutNulls } from "../../platform/without-nulls.ts";
import type { Database, SqlValue } from "../../store/engine/database.ts";
import type { DeliveryLogRows } from "../delivery-queue.ts";
import type { Attempt, DeliveryFilter, DeliveryRecord, DeliveryState } from "../model/deliveries.ts";
import { oldestIn } from "./figures.ts";
import { MESSAGE_COLUMNS, type MessageRow, messageFromRow, WITH_CONTENT } from "./messages.ts";
import type { Sync } from "./sync.ts";

export type DeliveryLogStore = Omit<Sync<DeliveryLogRows>, "sendNow" | "expediteMatching">;

type DeliveryRow = {
  number: number;
  id: string;
  sequence: number | null;
  event: string;
  height: number | null;
  block_id: string | null;
  state: DeliveryState;
  reason: string | null;
  created_ms: number;
  next_attempt_ms: number | null;
  finished_ms: number | null;
  stands: number | null;
  reverts: string | null;
};

type AttemptRow = {
  started_ms: number;
  duration_ms: number;
  status: number | null;
  answer: string | null;
  error: string | null;
};

/** Maximum rows to read for a page: some milliseconds, for which the thread is blocked. */
export const ROWS_READ_AT_ONCE = 10_000;

/** All columns except the content. */
const COLUMNS = `number, id, sequence, event, height, block_id, state, reason, created_ms, next_attempt_ms,
  finished_ms, stands, reverts`;

const REQUEUED = `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = ?, finished_ms = NULL,
  reason = NULL, replay = NULL, target_number = coalesce((SELECT target_number FROM webhooks WHERE id = webhook), target_number)`;

/** A retraction is sent again only to the target that it was meant for, and that may have received the fact. */
const IS_USEFUL = `stands IS NOT 0 AND (reverts IS NULL OR (
  target_number = (SELECT target_number FROM webhooks WHERE id = deliveries.webhook)
  AND EXISTS (SELECT 1 FROM deliveries AS fact JOIN attempts ON attempts.delivery = fact.number
    WHERE fact.id = deliveries.reverts AND fact.webhook = deliveries.webhook)))`;

export function createDeliveryLogStore(database: Database): DeliveryLogStore {
  const recordFromRow = createRecordFromRow(database);
  return {
    page: createPage(database, recordFromRow),
    find: createFind(database, recordFromRow),
    latest: createLatest(database),
    message: createMessage(database),
    ...createRequeue(database),
  };
}

type RecordFromRow = (row: DeliveryRow) => DeliveryRecord;

/** Creates the conversion of a row, which reads the attempts of the delivery. */
function createRecordFromRow(database: Database): RecordFromRow {
  const attempts = database.prepare<AttemptRow>(
    "SELECT started_ms, duration_ms, status, answer, error FROM attempts WHERE delivery = +? ORDER BY attempt",
  );
  return (row) =>
    withoutNulls({
      number: row.number,
      id: row.id,
      sequence: row.sequence,
      event: row.event,
      height: row.height,
      blockId: row.block_id,
      state: row.state,
      reason: row.reason,
      isUndone: row.stands === 0 ? (true as const) : null,
      reverts: row.reverts,
      createdMs: row.created_ms,
      nextAttemptMs: row.next_attempt_ms,
      finishedMs: row.finished_ms,
      attempts: attempts.all(row.number).map(attemptFromRow),
    });
}

function createPage(database: Database, recordFromRow: RecordFromRow): DeliveryLogStore["page"] {
  const reachOf = database.prepare<{ rows: number; last: number }>(
    `SELECT count(*) AS rows, min(number) AS last FROM
     (SELECT number FROM deliveries WHERE webhook = +? AND number < ? ORDER BY number DESC
      LIMIT ${ROWS_READ_AT_ONCE})`,
  );
  return (webhook, filter, { before = Number.MAX_SAFE_INTEGER, limit }) => {
    const reach = isIndexed(filter) ? undefined : reachOf.get(webhook, before);
    const after = reach?.rows === ROWS_READ_AT_ONCE ? reach.last - 1 : 0;
    const { where, values } = conditionsOf(filter);
    const rows = database
      .prepare<DeliveryRow>(
        `SELECT ${COLUMNS} FROM deliveries WHERE webhook = +? AND number < ? AND number > ? ${where}
         ORDER BY number DESC LIMIT +?`,
      )
      // One row more than the limit shows whether there is a next page.
      .all(webhook, before, after, ...values, limit + 1);
    const records = rows.slice(0, limit).map(recordFromRow);
    const last = records.at(-1);
    if (rows.length > limit && last) return { records, next: last.number };
    return after > 0 ? { records, next: after + 1 } : { records };
  };
}

function createFind(database: Database, recordFromRow: RecordFromRow): DeliveryLogStore["find"] {
  const byNumber = database.prepare<DeliveryRow>(
    `SELECT ${COLUMNS} FROM deliveries WHERE webhook = ? AND number = ?`,
  );
  const byId = database.prepare<DeliveryRow>(
    `SELECT ${COLUMNS} FROM deliveries WHERE webhook = ? AND id = ? ORDER BY number DESC LIMIT 1`,
  );
  return (webhook, key) => {
    const row = typeof key === "number" ? byNumber.get(webhook, key) : byId.get(webhook, key);
    return row && recordFromRow(row);
  };
}

function createLatest(database: Database): DeliveryLogStore["latest"] {
  const latest = database.prepare<Pick<DeliveryRow, "state" | "created_ms" | "finished_ms">>(
    `SELECT state, created_ms, finished_ms FROM deliveries WHERE webhook = +? AND sequence IS NOT NULL
     ORDER BY number DESC LIMIT +?`,
  );
  const oldest = database.prepare<{ first_ms: number | null; retry_ms: number | null }>(
    `SELECT ${oldestIn("deliveries_first", "next_attempt_ms IS NULL", "+?")} AS first_ms,
     ${oldestIn("deliveries_retry_oldest", "next_attempt_ms IS NOT NULL", "+?")} AS retry_ms`,
  );
  return (webhook, limit) => {
    const { first_ms = null, retry_ms = null } = oldest.get(webhook, webhook) ?? {};
    const madeMs = [first_ms, retry_ms].filter((ms) => ms !== null);
    return {
      deliveries: latest.all(webhook, limit).map(({ state, created_ms, finished_ms }) => ({
        state,
        createdMs: created_ms,
        ...(finished_ms !== null && { finishedMs: finished_ms }),
      })),
      ...(madeMs.length > 0 && { oldestWaitingMs: Math.min(...madeMs) }),
    };
  };
}

function createMessage(database: Database): DeliveryLogStore["message"] {
  const message = database.prepare<MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM deliveries ${WITH_CONTENT} WHERE deliveries.number = +?`,
  );
  return (number) => {
    const row = message.get(number);
    return row && messageFromRow(row);
  };
}

function createRequeue(database: Database): Pick<DeliveryLogStore, "requeue" | "requeueMatching"> {
  const requeue = database.prepare(`${REQUEUED} WHERE number = ? AND state <> 'pending' AND ${IS_USEFUL}`);
  const nextOf = (where: string) =>
    database.prepare<{ last: number | null }>(
      `SELECT max(number) AS last FROM
       (SELECT number FROM deliveries WHERE webhook = +? ${where} AND number > ? ORDER BY number LIMIT +?)`,
    );
  // Failed deliveries have their own index.
  const nextFailed = nextOf("AND state = 'failed'");
  const nextOfAll = nextOf("");
  return {
    requeue: (number, atMs) => requeue.run(atMs, number).changes > 0,
    requeueMatching: (webhook, filter, { after, limit }, atMs) =>
      database.transaction(() => {
        const next = filter.state === "failed" ? nextFailed : nextOfAll;
        const last = next.get(webhook, after, limit)?.last ?? undefined;
        if (last === undefined) return { count: 0 };
        const { where, values } = conditionsOf(filter);
        const requeued = database.prepare(
          `${REQUEUED} WHERE number IN (SELECT number FROM deliveries WHERE webhook = +?
           AND number > ? AND number <= ? AND sequence IS NOT NULL AND ${IS_USEFUL} ${where})`,
        );
        return { count: requeued.run(atMs, webhook, after, last, ...values).changes, last };
      }),
  };
}

/** Returns whether an index finds all matching rows. */
const isIndexed = ({ state, height, ...rest }: DeliveryFilter): boolean =>
  height !== undefined || (Object.keys(rest).length === 0 && (state === undefined || state === "failed"));

export function conditionsOf({ state, event, height, fromMs, toMs }: DeliveryFilter) {
  const clauses: string[] = [];
  const values: SqlValue[] = [];
  const add = (clause: string, value: SqlValue | undefined) => {
    if (value === undefined) return;
    clauses.push(`AND ${clause}`);
    values.push(value);
  };
  // Inlined, so that SQLite can use the index of failed deliveries; the value is one of four constants.
  if (state !== undefined) clauses.push(`AND state = '${state}'`);
  add("event = +?", event);
  add("height = +?", height);
  add("created_ms >= ?", fromMs);
  add("created_ms <= ?", toMs);
  return { where: clauses.join(" "), values };
}

const attemptFromRow = ({ started_ms, duration_ms, status, answer, error }: AttemptRow): Attempt => ({
  startedMs: started_ms,
  durationMs: duration_ms,
  ...(status !== null && { status }),
  ...(answer !== null && { response: answer }),
  ...(error !== null && { error }),
});
