/** Consequences of an update of a webhook. Each implementation of the register calls this function in its transaction. */
import type { Webhook, WebhookFields } from "../model/webhook.ts";
import { checkConditions } from "./bounds.ts";
import { checkEvents } from "./fields.ts";

export type UpdatePlan = {
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
  otherConditionsBytes: () => number,
): UpdatePlan {
  const after = { ...before, ...changes };
  checkEvents(after);
  if (changes.conditions !== undefined) checkConditions(otherConditionsBytes(), [after]);
  const isMoved = after.target !== before.target;
  const wasActive = before.enabled && before.suspended === undefined;
  return { after, isMoved, wasActive, restarts: isMoved || (after.enabled && !wasActive) };
}
