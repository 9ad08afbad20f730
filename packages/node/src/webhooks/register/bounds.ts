/** Bounds of the register, which is compiled in memory and searched for every event. */

import { WebhookError } from "../error.ts";

/** Maximum size of the conditions of all webhooks as JSON: 16 KiB each with a thousand webhooks. */
export const MAX_CONDITIONS_BYTES = 16 * 1_024 * 1_024;

/** Webhooks to add, with their conditions as JSON. */
export type Addition = readonly { readonly conditions: string }[];

/** Number of webhooks in the register, and size of their conditions. */
export type RegisterSize = { readonly count: number; readonly conditionsBytes: number };

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
export function checkConditions(otherBytes: number, added: Addition): void {
  const addedBytes = added.reduce((sum, { conditions }) => sum + Buffer.byteLength(conditions), 0);
  if (otherBytes + addedBytes <= MAX_CONDITIONS_BYTES) return;
  throw new WebhookError(
    "WEBHOOK_LIMIT",
    `"conditions" of all webhooks together must not be larger than ${MAX_CONDITIONS_BYTES} bytes`,
  );
}
