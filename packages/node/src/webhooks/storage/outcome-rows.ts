/** Rows that outcomes of attempts change: deliveries and webhooks, which are read first, and attempts. */
import type { AttemptOutcome } from "../model/deliveries.ts";
import { type Columns, type Flag, given, type Parameter, type Sql, type Steps, storableText } from "./sql.ts";

/** Columns that outcomes change, after the key of the row. */
const DELIVERY = {
  number: "bigint",
  state: "text",
  attempts: "integer",
  replay: "bigint",
  target_number: "integer",
  next_attempt_ms: "bigint",
  reason: "text",
  finished_ms: "bigint",
} as const;
const WEBHOOK = { id: "bigint", failures: "integer", failing_since_ms: "bigint" } as const;

export type DeliveryRow = {
  readonly number: number;
  readonly is_retracted: Flag | null;
  state: string;
  attempts: number;
  replay: number | null;
  target_number: number;
  next_attempt_ms: number | null;
  reason: string | null;
  finished_ms: number | null;
};

export type WebhookRow = {
  readonly id: number;
  readonly target: string;
  readonly target_number: number;
  readonly strict: Flag;
  failures: number;
  failing_since_ms: number | null;
};

export function* readWebhooks(sql: Sql, ids: readonly number[]): Steps<ReadonlyMap<number, WebhookRow>> {
  const rows = yield* sql.rows<WebhookRow>(
    "SELECT id, target, target_number, strict, failures, failing_since_ms FROM webhooks WHERE id = ANY ($1)",
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export function* lockDeliveries(
  sql: Sql,
  numbers: ReadonlySet<number>,
): Steps<ReadonlyMap<number, DeliveryRow>> {
  const rows = yield* sql.rows<DeliveryRow>(
    `SELECT is_retracted, ${Object.keys(DELIVERY).join(", ")} FROM deliveries
     WHERE number = ANY ($1) ORDER BY number FOR NO KEY UPDATE`,
    [[...numbers]],
  );
  return new Map(rows.map((row) => [row.number, row]));
}

/** Finishes pending deliveries after their first success. Returns the numbers of those that were pending. */
export function* finishAll(
  sql: Sql,
  successes: readonly AttemptOutcome[],
  webhooks: ReadonlyMap<number, WebhookRow>,
): Steps<ReadonlySet<number>> {
  if (successes.length === 0) return new Set();
  const rows = successes
    .map(
      ({ delivery, webhook, atMs }) =>
        [delivery, atMs, webhooks.get(webhook)?.target_number ?? null] as const,
    )
    .sort(([a], [b]) => a - b);
  const columns = { delivery: "bigint", at_ms: "bigint", target: "integer" } as const;
  const { table, values } = given(sql.kind, columns, rows);
  const finished = yield* sql.rows<{ number: number }>(
    `UPDATE deliveries SET state = 'delivered', attempts = attempts + 1, next_attempt_ms = NULL, reason = NULL,
       finished_ms = given.at_ms, target_number = coalesce(given.target, target_number)
     FROM ${table} WHERE deliveries.number = given.delivery AND state = 'pending' RETURNING deliveries.number`,
    values,
  );
  return new Set(finished.map(({ number }) => number));
}

const ATTEMPT = {
  delivery: "bigint",
  started_ms: "bigint",
  duration_ms: "bigint",
  status: "integer",
  response: "text",
  response_headers: "text",
  error: "text",
} as const;
const ATTEMPT_NAMES = Object.keys(ATTEMPT).join(", ");

/** SQLite stores the number of an attempt among those of its delivery. */
const NEXT_ATTEMPT = `(SELECT coalesce(max(attempt), 0) FROM attempts WHERE attempts.delivery = given.delivery)
  + row_number() OVER (PARTITION BY given.delivery ORDER BY place)`;

export function* insertAttempts(sql: Sql, outcomes: readonly AttemptOutcome[]): Steps<void> {
  if (outcomes.length === 0) return;
  const rows = outcomes.map(({ delivery, attempt }) => [
    delivery,
    attempt.startedMs,
    attempt.durationMs,
    attempt.status ?? null,
    ...[attempt.response, attempt.responseHeaders, attempt.error].map((text) =>
      text === undefined ? null : storableText(text),
    ),
  ]);
  const { table, values } = given(sql.kind, ATTEMPT, rows);
  yield* sql.change(
    sql.kind === "sqlite"
      ? `INSERT INTO attempts (attempt, ${ATTEMPT_NAMES}) SELECT ${NEXT_ATTEMPT}, ${ATTEMPT_NAMES} FROM ${table}`
      : `INSERT INTO attempts (${ATTEMPT_NAMES}) SELECT ${ATTEMPT_NAMES} FROM ${table} ORDER BY place`,
    values,
  );
}

export const writeDeliveries = (sql: Sql, changed: ReadonlySet<DeliveryRow>): Steps<void> =>
  update(sql, "deliveries", DELIVERY, [...changed]);

export const writeWebhooks = (sql: Sql, changed: ReadonlySet<WebhookRow>): Steps<void> =>
  update(sql, "webhooks", WEBHOOK, [...changed]);

/** Writes rows, of which the first column is the key. */
function* update(
  sql: Sql,
  name: string,
  columns: Columns,
  changed: readonly Readonly<Record<string, Parameter>>[],
): Steps<void> {
  if (changed.length === 0) return;
  const [key, ...others] = Object.keys(columns) as [string, ...string[]];
  const rows = changed.map((row) => [key, ...others].map((column) => row[column] ?? null));
  const { table, values } = given(sql.kind, columns, rows);
  const changes = others.map((column) => `${column} = given.${column}`);
  yield* sql.change(
    `UPDATE ${name} SET ${changes.join(", ")} FROM ${table} WHERE ${name}.${key} = given.${key}`,
    values,
  );
}
