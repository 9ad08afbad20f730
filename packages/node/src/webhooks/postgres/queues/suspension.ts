/** Suspends webhooks (webhooks.md 10 point 6). */
import type { Transaction } from "../../../postgres/connection.ts";
import { bumpVersion } from "../register-version.ts";
import { storableText } from "../storable-text.ts";
import { scheduleFinish } from "./finishing-queues.ts";
import { endReplay } from "./replays.ts";

/**
 * Suspends a webhook until it is updated or its target responds to a ping; does not change an existing suspension. Pending
 * deliveries fail, a step at a time: they can be sent again once the webhook is active.
 *
 * Changes the register: a transaction that has locked deliveries must have locked it for changes before.
 */
export async function suspendWebhook(
  transaction: Transaction,
  webhook: number,
  reason: string,
  atMs: number,
): Promise<void> {
  await bumpVersion(transaction);
  await transaction.change(
    "UPDATE webhooks SET suspended = $2, suspended_ms = $3 WHERE id = $1 AND suspended IS NULL",
    [webhook, storableText(reason), atMs],
  );
  await scheduleFinish(transaction, webhook, { state: "failed", reason });
  await endReplay(transaction, webhook, "cancelled", atMs, reason);
}
