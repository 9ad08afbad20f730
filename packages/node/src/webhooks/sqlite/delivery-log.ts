/** Deliveries as a log: their states and attempts, and operations to put them back into the queue, or to make them due at once. */

import type { Database, SqlValue } from "../../store/engine/database.ts";
import type { DeliveryLogRows } from "../delivery-queue.ts";
import {
  type AttemptRow,
  comparisonsOf,
  type DeliveryRow,
  isIndexed,
  latestFromRows,
  type MessageRow,
  messageFromRow,
  ROWS_READ_AT_ONCE,
  recordFromRow,
} from "../delivery-rows.ts";
import type { DeliveryFilter, DeliveryRecord } from "../model/deliveries.ts";
import { MESSAGE_COLUMNS, WITH_CONTENT } from "./deliveries.ts";
import { oldestIn } from "./figures.ts";
import type { Sync } from "./sql.ts";

type DeliveryLogStore = Sync<DeliveryLogRows>;

type Row = DeliveryRow<number>;

/** All columns except the content. */
const COLUMNS = `number, id, sequence, event, height, block_id, state, reason, created_ms, next_attempt_ms,
  finished_ms, is_retracted, reverts`;

const REQUEUED = `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = ?, finished_ms = NULL,
  reason = NULL, replay = NULL, target_number = coalesce((SELECT target_number FROM webhooks WHERE id = webhook), target_number)`;

/** A retraction is sent again only to the target that it was meant for, and that may have received the fact. */
const IS_USEFUL = `is_retracted IS NOT 1 AND (reverts IS NULL OR (
  target_number = (SELECT target_number FROM webhooks WHERE id = deliveries.webhook)
  AND EXISTS (SELECT 1 FROM deliveries AS fact JOIN attempts ON attempts.delivery = fact.number
    WHERE fact.id = deliveries.reverts AND fact.webhook = deliveries.webhook)))`;

export function createDeliveryLogStore(database: Database): DeliveryLogStore {
  const toRecord = createToRecord(database);
  const requeues = createRequeue(database);
  return {
    page: createPage(database, toRecord),
    find: createFind(database, toRecord),
    latest: createLatest(database),
    message: createMessage(database),
    ...requeues,
    sendNow: createSendNow(database, requeues.requeue),
    expediteMatching: createExpediteMatching(database),
  };
}

type ToRecord = (row: Row) => DeliveryRecord;

/** Creates the conversion of a row, which reads the attempts of the delivery. */
function createToRecord(database: Database): ToRecord {
  const attempts = database.prepare<AttemptRow<number>>(
    `SELECT started_ms, duration_ms, status, response, error FROM attempts
     WHERE delivery = +? ORDER BY attempt`,
  );
  return (row) => recordFromRow(row, attempts.all(row.number));
}

function createPage(database: Database, toRecord: ToRecord): DeliveryLogStore["page"] {
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
      .prepare<Row>(
        `SELECT ${COLUMNS} FROM deliveries WHERE webhook = +? AND number < ? AND number > ? ${where}
         ORDER BY number DESC LIMIT +?`,
      )
      // One row more than the limit shows whether there is a next page.
      .all(webhook, before, after, ...values, limit + 1);
    const records = rows.slice(0, limit).map(toRecord);
    const last = records.at(-1);
    if (rows.length > limit && last) return { records, next: last.number };
    return after > 0 ? { records, next: after + 1 } : { records };
  };
}

function createFind(database: Database, toRecord: ToRecord): DeliveryLogStore["find"] {
  const byNumber = database.prepare<Row>(
    `SELECT ${COLUMNS} FROM deliveries WHERE webhook = ? AND number = ?`,
  );
  const byId = database.prepare<Row>(
    `SELECT ${COLUMNS} FROM deliveries WHERE webhook = ? AND id = ? ORDER BY number DESC LIMIT 1`,
  );
  return (webhook, key) => {
    const row = typeof key === "number" ? byNumber.get(webhook, key) : byId.get(webhook, key);
    return row && toRecord(row);
  };
}

function createLatest(database: Database): DeliveryLogStore["latest"] {
  const latest = database.prepare<Pick<Row, "state" | "created_ms" | "finished_ms">>(
    `SELECT state, created_ms, finished_ms FROM deliveries WHERE webhook = +? AND sequence IS NOT NULL
     ORDER BY number DESC LIMIT +?`,
  );
  const oldest = database.prepare<{ first_ms: number | null; retry_ms: number | null }>(
    `SELECT ${oldestIn("deliveries_first", "next_attempt_ms IS NULL", "+?")} AS first_ms,
     ${oldestIn("deliveries_retry_oldest", "next_attempt_ms IS NOT NULL", "+?")} AS retry_ms`,
  );
  return (webhook, limit) => {
    const { first_ms = null, retry_ms = null } = oldest.get(webhook, webhook) ?? {};
    return latestFromRows(latest.all(webhook, limit), [first_ms, retry_ms]);
  };
}

function createMessage(database: Database): DeliveryLogStore["message"] {
  const message = database.prepare<MessageRow<number>>(
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

function conditionsOf({ state, ...filter }: DeliveryFilter) {
  const comparisons = comparisonsOf(filter);
  // Inlined, so that SQLite can use the index of failed deliveries; the value is one of four constants.
  const clauses = state === undefined ? [] : [`AND state = '${state}'`];
  const where = [...clauses, ...comparisons.map(([condition]) => `AND ${condition} +?`)].join(" ");
  return { where, values: comparisons.map(([, value]): SqlValue => value) };
}

/** Rows of each lane, by an index that the planner would not choose. */
const LANES = {
  first: "deliveries INDEXED BY deliveries_first WHERE next_attempt_ms IS NULL AND replay IS NULL",
  retry: "deliveries INDEXED BY deliveries_retry_oldest WHERE next_attempt_ms IS NOT NULL AND replay IS NULL",
  replay: "deliveries INDEXED BY deliveries_replay WHERE replay IS NOT NULL",
} as const;

/** Returns SQL for the pending deliveries of a webhook in a lane; conditions follow. */
const pendingIn = (lane: keyof typeof LANES): string =>
  `SELECT number FROM ${LANES[lane]} AND webhook = +? AND state = 'pending'`;

function createSendNow(
  database: Database,
  requeue: DeliveryLogStore["requeue"],
): DeliveryLogStore["sendNow"] {
  const isStrict = database.prepare("SELECT 1 FROM webhooks WHERE id = ? AND strict = 1");
  // Moves it to the retry lane: a due retry does not wait for other deliveries.
  const expediteOne = database.prepare(
    `UPDATE deliveries SET next_attempt_ms = ?, attempts = 0, replay = NULL
     WHERE webhook = ? AND number = ? AND state = 'pending'`,
  );
  const waits = database.prepare(
    "SELECT 1 FROM deliveries WHERE webhook = ? AND number = ? AND state = 'pending'",
  );
  // In strict order, at most one failed delivery is pending, unless more were sent again on demand.
  const expediteHead = (["retry", "replay"] as const).map((lane) =>
    database.prepare(
      `UPDATE deliveries SET next_attempt_ms = ? WHERE number IN
       (${pendingIn(lane)} AND next_attempt_ms > ? LIMIT 100)`,
    ),
  );

  /** Makes a delivery due; returns `false` if it is not pending. */
  function expedite(webhook: number, number: number, atMs: number): boolean {
    if (!isStrict.get(webhook)) return expediteOne.run(atMs, webhook, number).changes > 0;
    if (!waits.get(webhook, number)) return false;
    // Keeps the order: earlier deliveries are sent first.
    for (const head of expediteHead) head.run(atMs, webhook, atMs);
    return true;
  }

  return (webhook, numbers, atMs) =>
    database.transaction(
      () => numbers.filter((number) => requeue(number, atMs) || expedite(webhook, number, atMs)).length,
    );
}

const createExpediteMatching =
  (database: Database): DeliveryLogStore["expediteMatching"] =>
  (webhook, lane, filter, { after, limit }, atMs) =>
    database.transaction(() => {
      const last = database
        .prepare<{ last: number | null }>(
          `SELECT max(number) AS last FROM (${pendingIn(lane)} AND number > ? ORDER BY number LIMIT +?)`,
        )
        .get(webhook, after, limit)?.last;
      if (typeof last !== "number") return { count: 0 };
      const { where, values } = conditionsOf(filter);
      const rows = `${pendingIn(lane)} AND number > ? AND number <= ? ${where}`;
      const parameters = [webhook, after, last, ...values];
      const counted = database.prepare<{ count: number }>(`SELECT count(*) AS count FROM (${rows})`);
      const count = counted.get(...parameters)?.count ?? 0;
      if (lane !== "first") {
        database
          .prepare(
            `UPDATE deliveries SET next_attempt_ms = ?, attempts = 0
               WHERE next_attempt_ms IS NOT NULL AND number IN (${rows})`,
          )
          .run(atMs, ...parameters);
      }
      return { count, last };
    });
