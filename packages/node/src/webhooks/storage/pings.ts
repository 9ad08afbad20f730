/** Pings: deliveries without sequence. A ping that was sent outside the queue is inserted with its outcome. */
import { present } from "../../platform/present.ts";
import type { Content } from "../../subscriptions/content.ts";
import type { Attempt, NewDelivery } from "../model/deliveries.ts";
import { insertContents, NEXT_NUMBER } from "./delivery-rows.ts";
import { lockQueue } from "./locks.ts";
import type { Kind, Sql, Steps } from "./sql.ts";

/** A ping that is put into the queue of its webhook. */
export type NewPing = Pick<NewDelivery, "webhook" | "id" | "event"> & {
  readonly createdMs: number;
  readonly content: Content;
};

export type PingOutcome = {
  readonly webhook: number;
  readonly id: string;
  readonly createdMs: number;
  readonly dataText: string;
  readonly attempt: Attempt;
  readonly finishedMs: number;
  /** Reason of the failure; absent after a success. */
  readonly failure?: string;
};

/** SQL for the columns that only a first attempt in SQLite has. */
const FIRST_ATTEMPT: Readonly<Record<Kind, readonly [column: string, value: string]>> = {
  sqlite: ["attempt, ", "1, "],
  postgres: ["", ""],
};

/** Puts a ping into the queue of its webhook, which must be locked. */
export function* insertPing(sql: Sql, { webhook, id, event, createdMs, content }: NewPing): Steps<void> {
  yield* sql.change(
    `INSERT INTO deliveries (number, webhook, id, event, target_number, content, state, created_ms)
     VALUES (${NEXT_NUMBER[sql.kind]}, $1, $2, $3, (SELECT target_number FROM webhooks WHERE webhooks.id = $1), $4,
       'pending', $5)`,
    [webhook, id, event, yield* insertContent(sql, content), createdMs],
  );
}

/** Records a delivery that was attempted outside the queue. Returns its number. */
export function* recordPing(sql: Sql, ping: PingOutcome): Steps<number> {
  const { webhook, id, createdMs, dataText, attempt, finishedMs, failure } = ping;
  // Numbers of a webhook grow in the order of commits; the ping of a removed webhook is dropped with the oldest deliveries.
  yield* lockQueue(sql, webhook);
  const content = yield* insertContent(sql, { dataText });
  const row = yield* sql.row<{ number: number }>(
    `INSERT INTO deliveries (number, webhook, id, event, target_number, content, state, reason, attempts, created_ms,
       finished_ms)
     VALUES (${NEXT_NUMBER[sql.kind]}, $1, $2, 'ping',
       coalesce((SELECT target_number FROM webhooks WHERE webhooks.id = $1), 0), $3, $4, $5, 1, $6, $7)
     RETURNING number`,
    [
      webhook,
      id,
      content,
      failure === undefined ? "delivered" : "failed",
      failure ?? null,
      createdMs,
      finishedMs,
    ],
  );
  const { number } = present(row, "the inserted ping");
  const [column, value] = FIRST_ATTEMPT[sql.kind];
  const {
    startedMs,
    durationMs,
    status = null,
    response = null,
    responseHeaders = null,
    error = null,
  } = attempt;
  yield* sql.change(
    `INSERT INTO attempts (delivery, ${column}started_ms, duration_ms, status, response, response_headers, error)
     VALUES ($1, ${value}$2, $3, $4, $5, $6, $7)`,
    [number, startedMs, durationMs, status, response, responseHeaders, error],
  );
  return number;
}

function* insertContent(sql: Sql, content: Content): Steps<number> {
  const [number] = yield* insertContents(sql, [content]);
  return present(number, "the number of a content");
}
