/** Sends finished and pending deliveries now, on demand (webhooks.md 10 point 5). */
import { setImmediate } from "node:timers/promises";
import { integer, invalid, oneOf, type Readers, readMembers, text } from "../../subscriptions/fields.ts";
import { WebhookError } from "../error.ts";
import type { DeliveryFilter, DeliveryRecord, DeliveryState, EndedFilter } from "../model/deliveries.ts";
import type { Webhook } from "../model/webhook.ts";
import type { DeliveryLogRows } from "../storage/delivery-log.ts";
import type { Requeued } from "../storage/locks.ts";
import type { LogRange } from "../storage/resend.ts";

export type RetriesDeps = {
  rows: DeliveryLogRows;
  /** Called when deliveries of the webhook were put back into the queue or became due. */
  onQueued: (webhook: number) => void;
  isUnderWay: (delivery: number) => boolean;
  steadyMs: () => number;
};

export type Sent = {
  /** Number of deliveries to send. */
  readonly retried: number;
  /** Reason why pending deliveries are not sent: the webhook is off; absent without pending deliveries. */
  readonly notSent?: string;
};

/** `all` means every state except delivered. */
export type RetryFilter = Omit<DeliveryFilter, "state"> & { readonly state: DeliveryState | "all" };

const MAX = Number.MAX_SAFE_INTEGER;
/** Maximum number of deliveries that a request may list. */
export const MAX_SELECTED = 500;
const MAX_ID_LENGTH = 64;

type RetryMembers = Omit<RetryFilter, "fromMs" | "toMs"> & {
  readonly deliveries: readonly string[];
  readonly from: number;
  readonly to: number;
  /** Former name of `from`. */
  readonly since: number;
};

const READERS: Readers<RetryMembers> = {
  deliveries: readSelection,
  state: oneOf("pending", "delivered", "failed", "cancelled", "all"),
  event: text,
  height: integer(1, MAX),
  from: integer(0, MAX),
  to: integer(0, MAX),
  since: integer(0, MAX),
};

export type Retry = { readonly deliveries?: readonly string[]; readonly filter: RetryFilter };

/** @throws {SubscriptionError} */
export function readRetry(body: unknown): Retry {
  const members = readMembers(body, READERS);
  const { deliveries, state = "failed", from = 0, since = 0, to = MAX, ...rest } = members;
  if (deliveries !== undefined && Object.keys(members).length > 1)
    throw invalid('"deliveries" must be the only member');
  const filter = { ...rest, state, fromMs: Math.max(from, since), toMs: to };
  return { filter, ...(deliveries && { deliveries }) };
}

function readSelection(value: unknown, name: string): readonly string[] {
  const isId = (id: unknown) =>
    typeof id === "string" ? id !== "" && id.length <= MAX_ID_LENGTH : Number.isSafeInteger(id);
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_SELECTED || !value.every(isId))
    throw invalid(`"${name}" must be a list of 1 to ${MAX_SELECTED} ids or webhook-ids of deliveries`);
  return [...new Set(value.map(String))];
}

/** Maximum number of deliveries per transaction: some milliseconds of the writer. */
const AT_ONCE = 500;
const LANES = ["retry", "first", "replay"] as const;

/**
 * Sends deliveries, except those of reverted blocks. Pending deliveries of a webhook that is off stay pending.
 *
 * @throws {WebhookError} WEBHOOK_OFF if there is nothing else to send; QUEUE_ENDING
 */
export async function sendSome(
  { rows, onQueued, isUnderWay, steadyMs }: RetriesDeps,
  webhook: Webhook,
  deliveries: readonly DeliveryRecord[],
): Promise<Sent> {
  const isOff = offReason(webhook) !== undefined;
  const ended = deliveries.filter(({ state }) => state !== "pending");
  const hasSkipped = isOff && ended.length < deliveries.length;
  if (hasSkipped && ended.length === 0) checkOn(webhook);
  const numbers = (isOff ? ended : deliveries)
    .filter(({ number, isUndone }) => !isUndone && !isUnderWay(number))
    .map(({ number }) => number)
    // Deliveries are sent in this order.
    .sort((a, b) => a - b);
  const retried = await rows.sendNow(webhook.id, numbers, steadyMs());
  onQueued(webhook.id);
  return { retried, ...(hasSkipped && notSent(webhook)) };
}

/**
 * Sends all deliveries in the log that match a filter, and none that is created meanwhile. Pending deliveries of a webhook that is
 * off stay pending.
 *
 * @throws {WebhookError} WEBHOOK_OFF if there is nothing else to send; QUEUE_ENDING
 */
export async function sendMatching(
  deps: RetriesDeps,
  webhook: Webhook,
  { state, ...filter }: RetryFilter,
): Promise<Sent> {
  const { id } = webhook;
  const selection: Selection = { webhook: id, upTo: await newestIn(deps, id) };
  if (state !== "pending" && state !== "all")
    return { retried: await requeue(deps, selection, { ...filter, state }) };
  if (state === "pending") checkOn(webhook);
  const isOff = offReason(webhook) !== undefined;
  const hasSkipped = isOff && (await hasPending(deps, id, filter));
  const pending = isOff ? 0 : await expedite(deps, selection, filter);
  if (state === "pending") return { retried: pending };
  const failed = await requeue(deps, selection, { ...filter, state: "failed" });
  const retried = pending + failed + (await requeue(deps, selection, { ...filter, state: "cancelled" }));
  if (hasSkipped && retried === 0) checkOn(webhook);
  return { retried, ...(hasSkipped && notSent(webhook)) };
}

/** The deliveries of a webhook that were in the log at the request, by number: the clock may have been set back since. */
type Selection = { readonly webhook: number; readonly upTo: number };

/** Returns the greatest number in the log of the webhook; 0 if the log is empty. */
async function newestIn({ rows }: RetriesDeps, webhook: number): Promise<number> {
  const { records } = await rows.page(webhook, {}, { limit: 1 });
  return records[0]?.number ?? 0;
}

async function hasPending(
  { rows }: RetriesDeps,
  webhook: number,
  filter: Omit<DeliveryFilter, "state">,
): Promise<boolean> {
  const { records } = await rows.page(webhook, { ...filter, state: "pending" }, { limit: 1 });
  return records.length > 0;
}

const notSent = (webhook: Webhook): Pick<Sent, "notSent"> => ({
  notSent: `pending deliveries stay in the queue: ${offReason(webhook)}`,
});

const requeue = (deps: RetriesDeps, selection: Selection, filter: EndedFilter): Promise<number> =>
  runSteps(deps, selection, (range) =>
    deps.rows.requeueMatching(selection.webhook, filter, range, deps.steadyMs()),
  );

async function expedite(
  deps: RetriesDeps,
  selection: Selection,
  filter: Omit<DeliveryFilter, "state">,
): Promise<number> {
  let total = 0;
  for (const lane of LANES) {
    total += await runSteps(deps, selection, (range) =>
      deps.rows.expediteMatching(selection.webhook, lane, filter, range, deps.steadyMs()),
    );
  }
  return total;
}

/** Runs all steps, with pauses for other work. */
async function runSteps(
  { onQueued }: RetriesDeps,
  { webhook, upTo }: Selection,
  step: (range: LogRange) => Promise<Requeued>,
): Promise<number> {
  let total = 0;
  for (let after = 0; ; ) {
    const { count, last } = await step({ after, upTo, limit: AT_ONCE });
    total += count;
    if (count > 0) onQueued(webhook);
    if (last === undefined) return total;
    // Deliveries that fail again meanwhile have smaller numbers, and are not queued twice.
    after = last;
    await setImmediate();
  }
}

/** Checks that the webhook is active: other webhooks get no deliveries. @throws {WebhookError} WEBHOOK_OFF */
export function checkOn(webhook: Webhook): void {
  const reason = offReason(webhook);
  if (reason !== undefined) throw new WebhookError("WEBHOOK_OFF", reason);
}

function offReason({ id, enabled, suspended }: Webhook): string | undefined {
  if (!enabled) return `webhook ${id} is disabled: enable it with PUT {"enabled": "true"}`;
  return suspended && `webhook ${id} is suspended: ${suspended.reason}; ping it successfully, or update it`;
}
