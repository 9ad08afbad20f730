/** Bounds of the register: all of it is in memory, compiled, and searched with every event. */

import { WebhookError } from "../error.ts";
import type { RegisterRows } from "./rows.ts";

/** Of the conditions of all webhooks together, as JSON: 16 KiB each with a thousand webhooks. */
export const MAX_CONDITIONS_BYTES = 16 * 1_024 * 1_024;

/** Webhooks that are to be added, with their conditions as JSON. */
export type Addition = readonly { readonly conditions: string }[];

/** @throws {WebhookError} WEBHOOK_LIMIT when the register would hold too many webhooks, or too many conditions */
export function checkLimits(
  webhooks: Pick<RegisterRows, "count" | "conditionsBytes">,
  added: Addition,
  maxWebhooks: number,
): void {
  if (webhooks.count() + added.length > maxWebhooks) {
    throw new WebhookError(
      "WEBHOOK_LIMIT",
      `the register would hold more than ${maxWebhooks} webhooks; remove some, or start the node with a higher --webhook-limit`,
    );
  }
  checkConditions(webhooks.conditionsBytes(), added);
}

/**
 * @param otherBytes of all other conditions
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
