/**
 * Records the outcomes of attempts. The rows of their deliveries and webhooks are read first, and no other transaction changes
 * them: the consequences of the outcomes follow in order from these rows, and each kind of row is then written by one statement.
 */
import { present } from "../../platform/present.ts";
import {
  type AttemptFailure,
  type AttemptOutcome,
  REVERTED_REASON,
  type RecordedOutcome,
} from "../model/deliveries.ts";
import { countAttempts } from "./health.ts";
import {
  type DeliveryRow,
  finishAll,
  insertAttempts,
  lockDeliveries,
  readWebhooks,
  type WebhookRow,
  writeDeliveries,
  writeWebhooks,
} from "./outcome-rows.ts";
import { suspendWebhook } from "./queues.ts";
import { type Sql, type Steps, type Store, storableText } from "./sql.ts";

/** Rows after the outcomes so far. */
type State = {
  readonly webhooks: ReadonlyMap<number, WebhookRow>;
  /** Deliveries that are finished already by the only outcome that they have. */
  readonly delivered: ReadonlySet<number>;
  readonly deliveries: ReadonlyMap<number, DeliveryRow>;
  readonly changed: { readonly webhooks: Set<WebhookRow>; readonly deliveries: Set<DeliveryRow> };
};

/**
 * Locks webhooks and the register until the end of the transaction. Returns whether this process owns a webhook: outcomes of
 * others are not recorded, because their deliveries belong to another process.
 *
 * @param changesRegister true if a webhook may be suspended
 */
export type LockOwned = (
  sql: Sql,
  webhooks: readonly number[],
  changesRegister: boolean,
) => Steps<(webhook: number) => boolean>;

const NOT_CURRENT: RecordedOutcome = { isCurrent: false, failures: 0 };

/** Records outcomes in order, all or none. */
export async function recordOutcomes(
  store: Store,
  lock: LockOwned,
  outcomes: readonly AttemptOutcome[],
): Promise<readonly RecordedOutcome[]> {
  const attempt = (changesRegister: boolean) =>
    store.write((sql) => record(sql, lock, outcomes, changesRegister));
  return (await attempt(false)) ?? present(await attempt(true), "the recorded outcomes");
}

/**
 * Writes nothing if a webhook may have to be suspended, unless the register may be changed. Most outcomes suspend no webhook. While
 * the register is locked, no other process changes the webhooks.
 */
function* record(
  sql: Sql,
  lock: LockOwned,
  outcomes: readonly AttemptOutcome[],
  changesRegister: boolean,
): Steps<RecordedOutcome[] | undefined> {
  const ids = [...new Set(outcomes.map(({ webhook }) => webhook))];
  const [owns, webhooks] = yield* sql.together([lock(sql, ids, changesRegister), readWebhooks(sql, ids)]);
  const own = outcomes.filter(({ webhook }) => owns(webhook));
  if (!changesRegister && maySuspend(own, webhooks)) return undefined;
  const state: State = {
    webhooks,
    ...(yield* changeDeliveries(sql, own, webhooks)),
    changed: { webhooks: new Set(), deliveries: new Set() },
  };
  const recorded = new Map(own.map((outcome) => [outcome, conclude(state, outcome)]));
  const { delivered, deliveries, changed } = state;
  const isStored = ({ delivery }: AttemptOutcome) => delivered.has(delivery) || deliveries.has(delivery);
  const isCurrent = (outcome: AttemptOutcome) => recorded.get(outcome)?.isCurrent === true;
  yield* sql.together([
    insertAttempts(sql, own.filter(isStored)),
    writeDeliveries(sql, changed.deliveries),
    writeWebhooks(sql, changed.webhooks),
    countAttempts(sql, own.filter(isCurrent)),
  ]);
  for (const [{ webhook, atMs }, { suspended }] of recorded)
    if (suspended !== undefined) yield* suspendWebhook(sql, webhook, suspended, atMs);
  return outcomes.map((outcome) => recorded.get(outcome) ?? NOT_CURRENT);
}

function maySuspend(outcomes: readonly AttemptOutcome[], webhooks: State["webhooks"]): boolean {
  const failures = outcomes.filter(({ failure }) => failure !== undefined);
  const firstMs = Math.min(...failures.map(({ atMs }) => atMs));
  return failures.some(({ webhook, failure }) => {
    const sinceMs = Math.min(firstMs, webhooks.get(webhook)?.failing_since_ms ?? firstMs);
    return sinceMs < (failure?.suspension.ifFailingBeforeMs ?? Number.POSITIVE_INFINITY);
  });
}

/**
 * Finishes the deliveries at once if each has one outcome, a success. Otherwise locks them, all together, because transactions
 * lock deliveries by ascending number.
 */
function* changeDeliveries(
  sql: Sql,
  outcomes: readonly AttemptOutcome[],
  webhooks: State["webhooks"],
): Steps<Pick<State, "delivered" | "deliveries">> {
  const numbers = new Set(outcomes.map(({ delivery }) => delivery));
  const isSimple =
    numbers.size === outcomes.length &&
    outcomes.every((outcome) => outcome.failure === undefined && hasCurrentTarget(webhooks, outcome));
  if (!isSimple) return { delivered: new Set(), deliveries: yield* lockDeliveries(sql, numbers) };
  const delivered = yield* finishAll(sql, outcomes, webhooks);
  // Another process has finished or dropped the others.
  const missing = numbers.difference(delivered);
  return { delivered, deliveries: missing.size === 0 ? new Map() : yield* lockDeliveries(sql, missing) };
}

/** An attempt at a former target has no consequences. */
const hasCurrentTarget = (webhooks: State["webhooks"], { webhook, target }: AttemptOutcome): boolean =>
  target === undefined || webhooks.get(webhook)?.target === target;

function conclude(state: State, outcome: AttemptOutcome): RecordedOutcome {
  const { atMs, failure } = outcome;
  const webhook = state.webhooks.get(outcome.webhook);
  if (state.delivered.has(outcome.delivery)) return succeed(state, webhook);
  const delivery = state.deliveries.get(outcome.delivery);
  if (delivery?.state !== "pending" || !hasCurrentTarget(state.webhooks, outcome)) return NOT_CURRENT;
  delivery.attempts++;
  // The target may have received the message, whatever the outcome.
  delivery.target_number = webhook?.target_number ?? delivery.target_number;
  state.changed.deliveries.add(delivery);
  if (!failure) {
    finish(delivery, "delivered", null, atMs);
    return succeed(state, webhook);
  }
  const { reason, retryAtMs } = failure;
  if (retryAtMs === undefined) finish(delivery, "failed", reason, atMs);
  else if (delivery.is_retracted) finish(delivery, "cancelled", REVERTED_REASON, atMs);
  // A replayed delivery keeps its position in strict order only; otherwise it joins the other retries.
  else
    Object.assign(delivery, {
      next_attempt_ms: retryAtMs,
      reason: storableText(reason),
      replay: webhook?.strict ? delivery.replay : null,
    });
  return fail(state, webhook, failure, atMs);
}

function finish(delivery: DeliveryRow, state: string, reason: string | null, atMs: number): void {
  Object.assign(delivery, {
    state,
    next_attempt_ms: null,
    reason: reason === null ? null : storableText(reason),
    finished_ms: atMs,
  });
}

function succeed({ changed }: State, webhook: WebhookRow | undefined): RecordedOutcome {
  if (webhook && webhook.failures > 0)
    changed.webhooks.add(Object.assign(webhook, { failures: 0, failing_since_ms: null }));
  return { isCurrent: true, failures: 0 };
}

/** Counts a failure. The webhook may have been removed during the attempt. */
function fail(
  { changed }: State,
  webhook: WebhookRow | undefined,
  { suspension: { reason, minFailures = 0, ifFailingBeforeMs = Number.POSITIVE_INFINITY } }: AttemptFailure,
  atMs: number,
): RecordedOutcome {
  const failures = (webhook?.failures ?? 0) + 1;
  const sinceMs = webhook?.failing_since_ms ?? atMs;
  if (webhook) changed.webhooks.add(Object.assign(webhook, { failures, failing_since_ms: sinceMs }));
  const isSuspended = failures >= minFailures && sinceMs < ifFailingBeforeMs;
  return { isCurrent: true, failures, ...(isSuspended && { suspended: reason }) };
}
