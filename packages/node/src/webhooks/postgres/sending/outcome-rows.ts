/** Rows that outcomes of attempts change: deliveries and webhooks, which are read first, and attempts. */
import type { PostgresValue, Transaction } from "../../../postgres/connection.ts";
import type { AttemptOutcome } from "../../delivery-queue.ts";
import { storableText } from "../sql.ts";

/** State of a delivery, changed by each outcome. */
export type Delivery = {
  readonly number: number;
  readonly isRetracted: boolean;
  state: string;
  attempts: number;
  replay: string | null;
  targetNumber: number;
  nextAttemptMs: number | null;
  reason: string | null;
  finishedMs: number | null;
  isChanged: boolean;
};

/** State of a webhook, changed by each outcome. */
export type Webhook = {
  readonly id: number;
  readonly target: string;
  readonly targetNumber: number;
  readonly isStrict: boolean;
  failures: number;
  failingSinceMs: number | null;
  isChanged: boolean;
};

type DeliveryRow = {
  number: string;
  state: string;
  attempts: number;
  is_retracted: boolean | null;
  replay: string | null;
  target_number: number;
  next_attempt_ms: string | null;
  reason: string | null;
  finished_ms: string | null;
};

type WebhookRow = {
  id: string;
  target: string;
  target_number: number;
  strict: boolean;
  failures: number;
  failing_since_ms: string | null;
};

/** Reads webhooks. The register must be locked, so that no other transaction changes them. */
export async function readWebhooks(
  { query }: Transaction,
  ids: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Webhook>> {
  const rows = await query<WebhookRow>(
    "SELECT id, target, target_number, strict, failures, failing_since_ms FROM webhooks WHERE id = ANY ($1)",
    [[...ids]],
  );
  return new Map(rows.map((row) => [Number(row.id), webhookFromRow(row)]));
}

export async function lockDeliveries(
  { query }: Transaction,
  numbers: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Delivery>> {
  const rows = await query<DeliveryRow>(
    `SELECT number, state, attempts, is_retracted, replay, target_number, next_attempt_ms, reason, finished_ms
     FROM deliveries WHERE number = ANY ($1) ORDER BY number FOR NO KEY UPDATE`,
    [[...numbers]],
  );
  return new Map(rows.map((row) => [Number(row.number), deliveryFromRow(row)]));
}

/**
 * Finishes pending deliveries after their first success, with the times at which their attempts ended, by ascending number.
 *
 * @returns the numbers of the deliveries that were pending
 */
export async function deliver(
  { query }: Transaction,
  successes: readonly {
    readonly delivery: number;
    readonly atMs: number;
    readonly targetNumber: number | null;
  }[],
): Promise<ReadonlySet<number>> {
  if (successes.length === 0) return new Set();
  const rows = await query<{ number: string }>(
    `UPDATE deliveries SET state = 'delivered', attempts = attempts + 1, next_attempt_ms = NULL, reason = NULL,
       finished_ms = success.at_ms, target_number = coalesce(success.target_number, deliveries.target_number)
     FROM unnest($1::bigint[], $2::bigint[], $3::integer[]) AS success (number, at_ms, target_number)
     WHERE deliveries.number = success.number AND state = 'pending' RETURNING deliveries.number`,
    [
      successes.map(({ delivery }) => delivery),
      successes.map(({ atMs }) => atMs),
      successes.map(({ targetNumber }) => targetNumber),
    ],
  );
  return new Set(rows.map(({ number }) => Number(number)));
}

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text));

const webhookFromRow = (row: WebhookRow): Webhook => ({
  id: Number(row.id),
  target: row.target,
  targetNumber: row.target_number,
  isStrict: row.strict,
  failures: row.failures,
  failingSinceMs: numberOf(row.failing_since_ms),
  isChanged: false,
});

const deliveryFromRow = (row: DeliveryRow): Delivery => ({
  number: Number(row.number),
  isRetracted: row.is_retracted === true,
  state: row.state,
  attempts: row.attempts,
  replay: row.replay,
  targetNumber: row.target_number,
  nextAttemptMs: numberOf(row.next_attempt_ms),
  reason: row.reason,
  finishedMs: numberOf(row.finished_ms),
  isChanged: false,
});

export async function insertAttempts(
  { change }: Transaction,
  outcomes: readonly AttemptOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const column = (value: (outcome: AttemptOutcome) => PostgresValue) => outcomes.map(value);
  await change(
    `INSERT INTO attempts (delivery, started_ms, duration_ms, status, response, error)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::text[], $6::text[])`,
    [
      column(({ delivery }) => delivery),
      column(({ attempt }) => attempt.startedMs),
      column(({ attempt }) => attempt.durationMs),
      column(({ attempt }) => attempt.status ?? null),
      column(({ attempt: { response } }) => (response === undefined ? null : storableText(response))),
      column(({ attempt: { error } }) => (error === undefined ? null : storableText(error))),
    ],
  );
}

export async function writeDeliveries(
  { change }: Transaction,
  deliveries: readonly Delivery[],
): Promise<void> {
  const changed = deliveries.filter(({ isChanged }) => isChanged);
  if (changed.length === 0) return;
  const column = (value: (delivery: Delivery) => PostgresValue) => changed.map(value);
  await change(
    `UPDATE deliveries SET state = new.state, attempts = new.attempts, replay = new.replay,
       target_number = new.target_number, next_attempt_ms = new.next_attempt_ms, reason = new.reason,
       finished_ms = new.finished_ms
     FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::bigint[], $5::integer[], $6::bigint[], $7::text[],
       $8::bigint[]) AS new (number, state, attempts, replay, target_number, next_attempt_ms, reason, finished_ms)
     WHERE deliveries.number = new.number`,
    [
      column(({ number }) => number),
      column(({ state }) => state),
      column(({ attempts }) => attempts),
      column(({ replay }) => replay),
      column(({ targetNumber }) => targetNumber),
      column(({ nextAttemptMs }) => nextAttemptMs),
      column(({ reason }) => (reason === null ? null : storableText(reason))),
      column(({ finishedMs }) => finishedMs),
    ],
  );
}

export async function writeWebhooks({ change }: Transaction, webhooks: readonly Webhook[]): Promise<void> {
  const changed = webhooks.filter(({ isChanged }) => isChanged);
  if (changed.length === 0) return;
  await change(
    `UPDATE webhooks SET failures = new.failures, failing_since_ms = new.failing_since_ms
     FROM unnest($1::bigint[], $2::integer[], $3::bigint[]) AS new (id, failures, failing_since_ms)
     WHERE webhooks.id = new.id`,
    [
      changed.map(({ id }) => id),
      changed.map(({ failures }) => failures),
      changed.map(({ failingSinceMs }) => failingSinceMs),
    ],
  );
}
