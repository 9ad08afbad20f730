/** Suspends a webhook until it is updated or its target responds to a ping (webhooks.md 10 point 6). */
import type { Database } from "../../store/engine/database.ts";
import { createFinishedDeliveryStore } from "./finished-deliveries.ts";
import { createReplayStore } from "./replays.ts";
import { createWebhookHealthStore } from "./webhook-health.ts";

/** Suspends a webhook; must be called inside a transaction. */
export type SuspendWebhook = (webhook: number, reason: string, atMs: number) => void;

export function createSuspension(database: Database): SuspendWebhook {
  const health = createWebhookHealthStore(database);
  const finishedDeliveries = createFinishedDeliveryStore(database);
  const replays = createReplayStore(database);
  return (webhook, reason, atMs) => {
    health.suspend(webhook, { reason, sinceMs: atMs });
    // Pending deliveries fail: they can be sent again once the webhook is active.
    finishedDeliveries.schedule(webhook, { state: "failed", reason });
    replays.end(webhook, "cancelled", atMs, reason);
  };
}
