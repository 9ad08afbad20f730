/**
 * Records the outcomes of attempts. The rows of their deliveries and webhooks are read first, and no other transaction changes
 * them: the consequences of the outcomes follow in order from these states, and each kind of row is then written by one statement.
 */
import { present } from "../../../platform/present.ts";
import type { Postgres, Transaction } from "../../../postgres/connection.ts";
import type { AttemptFailure, AttemptOutcome, DeliveryQueue, RecordedOutcome } from "../../delivery-queue.ts";
import { REVERTED_REASON } from "../../model/deliveries.ts";
import { countAttempts } from "../../storage/health.ts";
import { suspendWebhook } from "../../storage/queues.ts";
import { shardOf } from "../../storage/shards.ts";
import type { ShardOwnership } from "../ownership.ts";
import { lockOwnShards } from "../positions.ts";
import { lockVersion } from "../register.ts";
import { runSteps, sqlOf } from "../sql.ts";
import {
  type Delivery,
  deliver,
  insertAttempts,
  lockDeliveries,
  readWebhooks,
  type Webhook,
  writeDeliveries,
  writeWebhooks,
} from "./outcome-rows.ts";

const NOT_CURRENT: RecordedOutcome = { isCurrent: false, failures: 0 };

type Webhooks = ReadonlyMap<number, Webhook>;

type States = {
  readonly webhooks: Webhooks;
  /** Deliveries that are finished already by the only outcome that they have. */
  readonly delivered: ReadonlySet<number>;
  /** The other deliveries. */
  readonly deliveries: ReadonlyMap<number, Delivery>;
};

/** Outcomes of webhooks that another worker owns by now are not recorded: their deliveries are its own. */
export function createRecord(postgres: Postgres, ownership: ShardOwnership): DeliveryQueue["record"] {
  const attempt = (outcomes: readonly AttemptOutcome[], changesRegister: boolean) =>
    postgres.transaction("READ WRITE", (transaction) =>
      record(transaction, { ownership, outcomes, changesRegister }),
    );
  return async (outcomes) =>
    (await attempt(outcomes, false)) ?? present(await attempt(outcomes, true), "the recorded outcomes");
}

type Batch = {
  readonly ownership: ShardOwnership;
  readonly outcomes: readonly AttemptOutcome[];
  /** True if the register is locked for a suspension. */
  readonly changesRegister: boolean;
};

/**
 * Writes nothing if a webhook may have to be suspended, unless the register may be changed. Most outcomes suspend no webhook. While
 * the register is locked, no other process changes the webhooks.
 */
async function record(
  transaction: Transaction,
  { ownership, outcomes, changesRegister }: Batch,
): Promise<RecordedOutcome[] | undefined> {
  const ids = new Set(outcomes.map(({ webhook }) => webhook));
  // Statements are sent without waiting for earlier ones, and run in this order.
  const [owned, , webhooks] = await Promise.all([
    lockOwnShards(transaction, ownership, [...new Set([...ids].map(shardOf))]),
    lockVersion(transaction, changesRegister),
    readWebhooks(transaction, ids),
  ]);
  const own = outcomes.filter(({ webhook }) => owned.has(shardOf(webhook)));
  if (!changesRegister && maySuspend(own, webhooks)) return undefined;
  const states = { webhooks, ...(await changeDeliveries(transaction, own, webhooks)) };
  const recorded = new Map(own.map((outcome) => [outcome, conclude(states, outcome)]));
  const { delivered, deliveries } = states;
  const isStored = ({ delivery }: AttemptOutcome) => delivered.has(delivery) || deliveries.has(delivery);
  const isCurrent = (outcome: AttemptOutcome) => recorded.get(outcome)?.isCurrent === true;
  await Promise.all([
    insertAttempts(transaction, own.filter(isStored)),
    writeDeliveries(transaction, [...deliveries.values()]),
    writeWebhooks(transaction, [...webhooks.values()]),
    runSteps(countAttempts(sqlOf(transaction), own.filter(isCurrent))),
  ]);
  for (const [{ webhook, atMs }, { suspended }] of recorded)
    if (suspended !== undefined) await runSteps(suspendWebhook(sqlOf(transaction), webhook, suspended, atMs));
  return outcomes.map((outcome) => recorded.get(outcome) ?? NOT_CURRENT);
}

function maySuspend(outcomes: readonly AttemptOutcome[], webhooks: Webhooks): boolean {
  const failures = outcomes.filter(({ failure }) => failure !== undefined);
  const firstMs = Math.min(...failures.map(({ atMs }) => atMs));
  return failures.some(({ webhook, failure }) => {
    const sinceMs = Math.min(firstMs, webhooks.get(webhook)?.failingSinceMs ?? firstMs);
    return sinceMs < (failure?.suspension.ifFailingBeforeMs ?? Number.POSITIVE_INFINITY);
  });
}

/**
 * Finishes the deliveries at once if each has one outcome, a success. Otherwise locks them, all together, because transactions
 * lock deliveries by ascending number.
 */
async function changeDeliveries(
  transaction: Transaction,
  outcomes: readonly AttemptOutcome[],
  webhooks: Webhooks,
): Promise<Pick<States, "delivered" | "deliveries">> {
  const numbers = new Set(outcomes.map(({ delivery }) => delivery));
  const isSimple =
    numbers.size === outcomes.length &&
    outcomes.every((outcome) => outcome.failure === undefined && hasCurrentTarget(webhooks, outcome));
  if (!isSimple) return { delivered: new Set(), deliveries: await lockDeliveries(transaction, numbers) };
  const successes = outcomes
    .map(({ delivery, webhook, atMs }) => ({
      ...{ delivery, atMs },
      targetNumber: webhooks.get(webhook)?.targetNumber ?? null,
    }))
    .sort((a, b) => a.delivery - b.delivery);
  const delivered = await deliver(transaction, successes);
  // Another process has finished or dropped the others.
  const missing = numbers.difference(delivered);
  return {
    delivered,
    deliveries: missing.size === 0 ? new Map() : await lockDeliveries(transaction, missing),
  };
}

/** An attempt at a former target has no consequences. */
const hasCurrentTarget = (webhooks: Webhooks, { webhook, target }: AttemptOutcome): boolean =>
  target === undefined || webhooks.get(webhook)?.target === target;

/** Applies an outcome to the states. */
function conclude(states: States, outcome: AttemptOutcome): RecordedOutcome {
  const { atMs, failure } = outcome;
  const webhook = states.webhooks.get(outcome.webhook);
  if (states.delivered.has(outcome.delivery)) return succeed(webhook);
  const delivery = states.deliveries.get(outcome.delivery);
  if (delivery?.state !== "pending" || !hasCurrentTarget(states.webhooks, outcome)) return NOT_CURRENT;
  delivery.attempts++;
  delivery.isChanged = true;
  if (!failure) {
    finish(delivery, webhook, { state: "delivered", atMs });
    return succeed(webhook);
  }
  if (failure.retryMs === undefined)
    finish(delivery, webhook, { state: "failed", atMs, reason: failure.reason });
  else postpone(delivery, webhook, failure.retryMs, failure.reason, atMs);
  return countFailure(webhook, failure, atMs);
}

function succeed(webhook: Webhook | undefined): RecordedOutcome {
  if (webhook && webhook.failures > 0)
    Object.assign(webhook, { failures: 0, failingSinceMs: null, isChanged: true });
  return { isCurrent: true, failures: 0 };
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
