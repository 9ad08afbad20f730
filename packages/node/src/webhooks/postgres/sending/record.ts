/**
 * Records the outcomes of attempts. The rows of their deliveries and webhooks are locked and read first: the consequences of
 * the outcomes follow in order from these states, and each kind of row is then written by one statement.
 */
import type { Postgres, PostgresValue, Transaction } from "../../../postgres/connection.ts";
import type { AttemptFailure, AttemptOutcome, DeliveryQueue, RecordedOutcome } from "../../delivery-queue.ts";
import { REVERTED_REASON } from "../../model/reasons.ts";
import type { ShardOwnership } from "../ownership.ts";
import { lockOwnShards } from "../positions.ts";
import { suspendWebhook } from "../queues/suspension.ts";
import { countAttempts } from "../register/health.ts";
import { lockVersion } from "../register-version.ts";
import { shardOf } from "../shards.ts";
import { storableText } from "../storable-text.ts";

const NOT_CURRENT: RecordedOutcome = { isCurrent: false, failures: 0 };

/** State of a delivery, changed by each outcome. */
type Delivery = {
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
type Webhook = {
  readonly id: number;
  readonly target: string;
  readonly targetNumber: number;
  readonly isStrict: boolean;
  failures: number;
  failingSinceMs: number | null;
  isChanged: boolean;
};

type States = {
  readonly deliveries: ReadonlyMap<number, Delivery>;
  readonly webhooks: ReadonlyMap<number, Webhook>;
};

/** Outcomes of webhooks that another worker owns by now are not recorded: their deliveries are its own. */
export function createRecord(postgres: Postgres, ownership: ShardOwnership): DeliveryQueue["record"] {
  return (outcomes) =>
    postgres.transaction("READ WRITE", async (transaction) => {
      // A suspension changes the register, which is locked before webhooks.
      if (outcomes.some(isSuspending)) await lockVersion(transaction, true);
      // Statements are sent without waiting for earlier ones, and run in this order.
      const [owned, states] = await Promise.all([
        lockOwnShards(transaction, ownership, [...new Set(outcomes.map(({ webhook }) => shardOf(webhook)))]),
        lockStates(transaction, outcomes),
      ]);
      const own = outcomes.filter(({ webhook }) => owned.has(shardOf(webhook)));
      const recorded = new Map(own.map((outcome) => [outcome, conclude(states, outcome)]));
      const isCurrent = (outcome: AttemptOutcome) => recorded.get(outcome)?.isCurrent === true;
      await Promise.all([
        insertAttempts(
          transaction,
          own.filter(({ delivery }) => states.deliveries.has(delivery)),
        ),
        writeDeliveries(transaction, [...states.deliveries.values()]),
        writeWebhooks(transaction, [...states.webhooks.values()]),
        countAttempts(transaction, own.filter(isCurrent)),
      ]);
      for (const [{ webhook, atMs }, { suspended }] of recorded)
        if (suspended !== undefined) await suspendWebhook(transaction, webhook, suspended, atMs);
      return outcomes.map((outcome) => recorded.get(outcome) ?? NOT_CURRENT);
    });
}

const isSuspending = ({ failure }: AttemptOutcome): boolean =>
  failure !== undefined && failure.suspension.ifFailingBeforeMs === undefined;

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

async function lockStates({ query }: Transaction, outcomes: readonly AttemptOutcome[]): Promise<States> {
  const [webhooks, deliveries] = await Promise.all([
    query<WebhookRow>(
      `SELECT id, target, target_number, strict, failures, failing_since_ms FROM webhooks WHERE id = ANY ($1)
       ORDER BY id FOR NO KEY UPDATE`,
      [[...new Set(outcomes.map(({ webhook }) => webhook))]],
    ),
    query<DeliveryRow>(
      `SELECT number, state, attempts, is_retracted, replay, target_number, next_attempt_ms, reason, finished_ms
       FROM deliveries WHERE number = ANY ($1) ORDER BY number FOR NO KEY UPDATE`,
      [[...new Set(outcomes.map(({ delivery }) => delivery))]],
    ),
  ]);
  return {
    webhooks: new Map(webhooks.map((row) => [Number(row.id), webhookFromRow(row)])),
    deliveries: new Map(deliveries.map((row) => [Number(row.number), deliveryFromRow(row)])),
  };
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

/** Applies an outcome to the states. */
function conclude({ deliveries, webhooks }: States, outcome: AttemptOutcome): RecordedOutcome {
  const { target, atMs, failure } = outcome;
  const webhook = webhooks.get(outcome.webhook);
  const delivery = deliveries.get(outcome.delivery);
  // An attempt at a former target has no consequences.
  if (target !== undefined && webhook?.target !== target) return NOT_CURRENT;
  if (delivery?.state !== "pending") return NOT_CURRENT;
  delivery.attempts++;
  delivery.isChanged = true;
  if (!failure) {
    finish(delivery, webhook, { state: "delivered", atMs });
    if (webhook && webhook.failures > 0)
      Object.assign(webhook, { failures: 0, failingSinceMs: null, isChanged: true });
    return { isCurrent: true, failures: 0 };
  }
  if (failure.retryMs === undefined)
    finish(delivery, webhook, { state: "failed", atMs, reason: failure.reason });
  else postpone(delivery, webhook, failure.retryMs, failure.reason, atMs);
  return countFailure(webhook, failure, atMs);
}

type Finish = { readonly state: "delivered" | "failed"; readonly atMs: number; readonly reason?: string };

function finish(delivery: Delivery, webhook: Webhook | undefined, { state, atMs, reason }: Finish): void {
  Object.assign(delivery, {
    state,
    nextAttemptMs: null,
    reason: reason ?? null,
    finishedMs: atMs,
    targetNumber: webhook?.targetNumber ?? delivery.targetNumber,
  });
}

/** Schedules a retry, unless the fact was retracted meanwhile: then the delivery is cancelled. */
function postpone(
  delivery: Delivery,
  webhook: Webhook | undefined,
  retryMs: number,
  reason: string,
  atMs: number,
): void {
  if (delivery.isRetracted) {
    Object.assign(delivery, {
      state: "cancelled",
      nextAttemptMs: null,
      reason: REVERTED_REASON,
      finishedMs: atMs,
    });
    return;
  }
  // A replayed delivery keeps its position in strict order only; otherwise it joins the other retries.
  const replay = webhook?.isStrict ? delivery.replay : null;
  Object.assign(delivery, { nextAttemptMs: retryMs, reason, replay });
}

function countFailure(
  webhook: Webhook | undefined,
  { suspension: { reason, ifFailingBeforeMs = Number.POSITIVE_INFINITY } }: AttemptFailure,
  atMs: number,
): RecordedOutcome {
  // The webhook may have been removed during the attempt.
  const { failures = 0, failingSinceMs = null } = webhook ?? {};
  const sinceMs = failingSinceMs ?? atMs;
  if (webhook) Object.assign(webhook, { failures: failures + 1, failingSinceMs: sinceMs, isChanged: true });
  const counted = { isCurrent: true, failures: failures + 1 };
  return sinceMs >= ifFailingBeforeMs ? counted : { ...counted, suspended: reason };
}

async function insertAttempts({ change }: Transaction, outcomes: readonly AttemptOutcome[]): Promise<void> {
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

async function writeDeliveries({ change }: Transaction, deliveries: readonly Delivery[]): Promise<void> {
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

async function writeWebhooks({ change }: Transaction, webhooks: readonly Webhook[]): Promise<void> {
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
