/**
 * Sends deliveries of the log again: puts finished ones back into the queue, or makes pending ones due now. Each works on a single
 * one, a selection, or a range of the log or of a lane, whose queue is locked.
 */
import type { DeliveryFilter } from "../model/deliveries.ts";
import { conditionsOf } from "./delivery-rows.ts";
import { isIn, isOneOf, type Lane, rowsIn } from "./lanes.ts";
import type { Requeued } from "./locks.ts";
import type { Flag, Kind, Reads, Sql, Steps } from "./sql.ts";

/** Beginning of a statement whose first parameter is the time. */
const REQUEUED = `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = $1, finished_ms = NULL,
  reason = NULL, replay = NULL,
  target_number = (SELECT target_number FROM webhooks WHERE webhooks.id = deliveries.webhook)`;

/** A retraction is sent again only to the target that it was meant for, and that may have received the fact. */
const IS_USEFUL = `is_retracted IS NOT true AND (reverts IS NULL OR (
  target_number = (SELECT target_number FROM webhooks WHERE webhooks.id = deliveries.webhook)
  AND EXISTS (SELECT 1 FROM deliveries AS fact JOIN attempts ON attempts.delivery = fact.number
    WHERE fact.id = deliveries.reverts AND fact.webhook = deliveries.webhook)))`;

/** The next deliveries after a number, up to another one if it is given. */
export type LogRange = { readonly after: number; readonly limit: number; readonly upTo?: number };

type Range = LogRange & {
  readonly webhook: number;
  readonly filter: DeliveryFilter;
  readonly atMs: number;
};

/** Deliveries of a webhook after a number; both conditions have an index with their order. */
const AFTER: Readonly<Record<Kind, string>> = {
  sqlite: "deliveries WHERE webhook = $1 AND number > $2 ORDER BY number",
  postgres: "deliveries WHERE webhook <= $1 AND (webhook, number) > ($1, $2) ORDER BY webhook, number",
};

export function* requeueRange(sql: Sql, range: Range): Steps<Requeued> {
  const { webhook, filter, after, atMs } = range;
  const rows =
    filter.state === "failed"
      ? `${rowsIn(sql.kind, "failed", "$1")} AND number > $2 ORDER BY number`
      : AFTER[sql.kind];
  const last = yield* lastOf(sql, rows, range);
  if (last === undefined) return { count: 0 };
  const { where, values } = conditionsOf(filter, 5);
  const matching = `SELECT number FROM deliveries WHERE webhook = $2 AND number > $3 AND number <= $4 AND sequence IS NOT NULL
    AND ${IS_USEFUL} ${where} ORDER BY number FOR UPDATE`;
  const count = yield* sql.change(`${REQUEUED} WHERE number ${isOneOf(sql.kind, matching)}`, [
    atMs,
    webhook,
    after,
    last,
    ...values,
  ]);
  return { count, last };
}

/** Returns the last of the next numbers in a range; undefined at its end. */
function* lastOf(
  sql: Reads,
  rows: string,
  { webhook, after, limit, upTo = Number.MAX_SAFE_INTEGER }: Range,
): Steps<number | undefined> {
  const next = yield* sql.row<{ last: number | null }>(
    `SELECT max(number) AS last FROM (SELECT number FROM ${rows} LIMIT $3) AS next`,
    [webhook, after, limit],
  );
  const last = Math.min(next?.last ?? 0, upTo);
  return last > after ? last : undefined;
}

/** Failed deliveries of a strict webhook that become due for each selected one: more wait only after they were sent again. */
const HEADS_AT_ONCE = 100;

export function* sendSome(
  sql: Sql,
  webhook: number,
  numbers: readonly number[],
  atMs: number,
): Steps<Requeued> {
  const heads = yield* strictHeads(sql, webhook, atMs, HEADS_AT_ONCE * numbers.length);
  // Waits for outcomes that are being recorded: afterwards, no delivery is between its states.
  const rows = yield* sql.rows<{ number: number; state: string }>(
    "SELECT number, state FROM deliveries WHERE webhook = $1 AND number = ANY ($2) ORDER BY number FOR UPDATE",
    [webhook, [...numbers, ...(heads ?? [])]],
  );
  const requeued = yield* sql.rows<{ number: number }>(
    `${REQUEUED} WHERE webhook = $2 AND number = ANY ($3) AND state <> 'pending' AND ${IS_USEFUL} RETURNING number`,
    [atMs, webhook, numbers],
  );
  const pending = new Set(rows.flatMap(({ number, state }) => (state === "pending" ? number : [])));
  const waiting = numbers.filter((number) => pending.has(number));
  if (waiting.length > 0) {
    if (heads) yield* sql.change(EXPEDITE_HEADS, [atMs, heads]);
    else yield* expedite(sql, webhook, waiting, atMs);
  }
  const sent = new Set([...waiting, ...requeued.map(({ number }) => number)]);
  return { count: numbers.filter((number) => sent.has(number)).length };
}

/** SQL for retractions of the webhook, the first parameter, without and with an attempt; both have an index. */
const RETRACTIONS: Readonly<Record<Kind, readonly string[]>> = {
  sqlite: [
    `deliveries INDEXED BY deliveries_first_retractions
     WHERE webhook = $1 AND state = 'pending' AND next_attempt_ms IS NULL AND replay IS NULL AND reverts IS NOT NULL`,
    `deliveries INDEXED BY deliveries_retractions
     WHERE webhook = $1 AND state = 'pending' AND next_attempt_ms IS NOT NULL AND replay IS NULL AND reverts IS NOT NULL`,
  ],
  postgres: [
    "delivery_lanes WHERE webhook = $1 AND lane = 'first' AND is_retraction",
    "delivery_lanes WHERE webhook = $1 AND lane = 'retry' AND is_retraction AND next_attempt_ms IS NOT NULL",
  ],
};

/**
 * Moves deliveries to the retry lane: a due retry does not wait for other deliveries. Those without an attempt stay in order while
 * a retraction is pending, because they must not overtake it, nor it the fact that it retracts.
 */
function* expedite(sql: Sql, webhook: number, numbers: readonly number[], atMs: number): Steps<void> {
  const earlier = RETRACTIONS[sql.kind].map((rows) => `EXISTS (SELECT 1 FROM ${rows} AND number <= $2)`);
  const row = yield* sql.row<{ found: Flag }>(`SELECT ${earlier.join(" OR ")} AS found`, [
    webhook,
    Math.max(...numbers),
  ]);
  yield* sql.change(
    `UPDATE deliveries SET next_attempt_ms = $1, attempts = 0, replay = NULL
     WHERE number = ANY ($2) AND state = 'pending' ${row?.found ? "AND next_attempt_ms IS NOT NULL" : ""}`,
    [atMs, numbers],
  );
}

/** Makes the first deliveries of a strict webhook due. */
const EXPEDITE_HEADS = `UPDATE deliveries SET next_attempt_ms = $1
  WHERE number = ANY ($2) AND state = 'pending' AND next_attempt_ms > $1`;

/** Returns the failed deliveries of a strict webhook, which the others follow in order; undefined in parallel order. */
function* strictHeads(sql: Reads, webhook: number, atMs: number, limit: number): Steps<number[] | undefined> {
  const strict = yield* sql.row("SELECT 1 FROM webhooks WHERE id = $1 AND strict", [webhook]);
  if (!strict) return undefined;
  const heads: number[] = [];
  for (const lane of ["due", "replay"] as const) {
    const rows = yield* sql.rows<{ number: number }>(
      `SELECT number FROM ${rowsIn(sql.kind, lane, "$1")} AND next_attempt_ms > $2 LIMIT $3`,
      [webhook, atMs, limit],
    );
    heads.push(...rows.map(({ number }) => number));
  }
  return heads;
}

export function* expediteRange(
  sql: Sql,
  { lane, ...range }: Range & { readonly lane: Lane },
): Steps<Requeued> {
  const { webhook, filter, after, atMs } = range;
  const pending = `${rowsIn(sql.kind, lane, "$1")} AND number > $2`;
  const last = yield* lastOf(sql, `${pending} ORDER BY number`, range);
  if (last === undefined) return { count: 0 };
  const { where, values } = conditionsOf(filter, 4);
  const matching = yield* sql.rows<{ number: number }>(
    `SELECT number FROM deliveries
     WHERE number ${isOneOf(sql.kind, `SELECT number FROM ${pending} AND number <= $3`)} AND ${isIn(sql.kind, lane)} ${where}
     ORDER BY number ${lane === "first" ? "" : "FOR UPDATE"}`,
    [webhook, after, last, ...values],
  );
  if (lane !== "first" && matching.length > 0) {
    yield* sql.change(
      `UPDATE deliveries SET next_attempt_ms = $1, attempts = 0
       WHERE number = ANY ($2) AND next_attempt_ms IS NOT NULL`,
      [atMs, matching.map(({ number }) => number)],
    );
  }
  return { count: matching.length, last };
}
