/**
 * Rules of changes of the register: bounds, because the register is compiled in
 * memory and searched for every event, and the consequences of an update.
 */
import { WebhookError } from "../error.ts";
import { checkEvents, type Webhook, type WebhookFields } from "../model/webhook.ts";

/** Maximum size of the conditions of all webhooks as JSON: 16 KiB each with a thousand webhooks. */
export const MAX_CONDITIONS_BYTES = 16 * 1_024 * 1_024;

/** Webhooks to add, with their conditions as JSON. */
type Addition = readonly { readonly conditions: string }[];

/** Number of webhooks in the register, and size of their conditions. */
type RegisterSize = { readonly count: number; readonly conditionsBytes: number };

/** @throws {WebhookError} WEBHOOK_LIMIT if the register would have too many webhooks or conditions */
export function checkLimits(
  { count, conditionsBytes }: RegisterSize,
  added: Addition,
  webhookLimit: number,
): void {
  if (count + added.length > webhookLimit) {
    throw new WebhookError(
      "WEBHOOK_LIMIT",
      `the register cannot have more than ${webhookLimit} webhooks; remove some, or start the node with a higher --webhook-limit`,
    );
  }
  checkConditions(conditionsBytes, added);
}

/**
 * @param otherBytes size of all other conditions
 * @throws {WebhookError} WEBHOOK_LIMIT
 */
function checkConditions(otherBytes: number, added: Addition): void {
  const addedBytes = added.reduce((sum, { conditions }) => sum + Buffer.byteLength(conditions), 0);
  if (otherBytes + addedBytes <= MAX_CONDITIONS_BYTES) return;
  throw new WebhookError(
    "WEBHOOK_LIMIT",
    `"conditions" of all webhooks together must not be larger than ${MAX_CONDITIONS_BYTES} bytes`,
  );
}

type UpdatePlan = {
  readonly after: WebhookFields;
  /** True if the target changes: it has received no facts, and needs no retractions of them. */
  readonly isMoved: boolean;
  /** True if the webhook received events before the update. */
  readonly wasActive: boolean;
  /** True if the queue restarts, because a new target may respond. */
  readonly restarts: boolean;
};

/**
 * @param otherConditionsBytes size of the conditions of all other webhooks
 * @throws {SubscriptionError} if no event remains
 * @throws {WebhookError} WEBHOOK_LIMIT
 */
export function planUpdate(
  before: Webhook,
  changes: Partial<WebhookFields>,
  otherConditionsBytes: number,
): UpdatePlan {
  const after = { ...before, ...changes };
  checkEvents(after);
  if (changes.conditions !== undefined) checkConditions(otherConditionsBytes, [after]);
  const isMoved = after.target !== before.target;
  const wasActive = before.enabled && before.suspended === undefined;
  return { after, isMoved, wasActive, restarts: isMoved || (after.enabled && !wasActive) };
}
