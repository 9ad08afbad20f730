/** Health of a webhook's target: consecutive failures, and the suspension that ends them (webhooks.md 10 point 6). */
import type { Database } from "../../store/engine/database.ts";
import type { Suspension } from "../model/webhook.ts";
import { createFinishedDeliveryStore } from "./finished-deliveries.ts";
import { createReplayStore } from "./replays.ts";

/** Number of consecutive failures, and the time of the first. */
export type Failing = { readonly failures: number; readonly failingSinceMs: number };

export type WebhookHealthStore = {
  recordSuccess(id: number): void;
  recordFailure(id: number, atMs: number): Failing;
  /** Suspends a webhook; does not change an existing suspension. */
  suspend(id: number, suspension: Suspension): void;
  /** Lifts the suspension and resets the failures; the webhook receives the events after a sequence. */
  resume(id: number, after: number): void;
};

export function createWebhookHealthStore(database: Database): WebhookHealthStore {
  const recordSuccess = database.prepare(
    "UPDATE webhooks SET failures = 0, failing_since_ms = NULL WHERE id = ? AND failures > 0",
  );
  const recordFailure = database.prepare<Failing>(
    `UPDATE webhooks SET failures = failures + 1, failing_since_ms = coalesce(failing_since_ms, ?) WHERE id = ?
     RETURNING failures, failing_since_ms AS failingSinceMs`,
  );
  const suspend = database.prepare(
    "UPDATE webhooks SET suspended = ?, suspended_ms = ? WHERE id = ? AND suspended IS NULL",
  );
  const resume = database.prepare(
    `UPDATE webhooks SET suspended = NULL, suspended_ms = NULL, failures = 0, failing_since_ms = NULL, active_after = ?
     WHERE id = ? AND suspended IS NOT NULL`,
  );
  return {
    recordSuccess: (id) => void recordSuccess.run(id),
    // The webhook may have been deleted during the attempt.
    recordFailure: (id, atMs) => recordFailure.get(atMs, id) ?? { failures: 1, failingSinceMs: atMs },
    suspend: (id, { reason, sinceMs }) => void suspend.run(reason, sinceMs, id),
    resume: (id, after) => void resume.run(after, id),
  };
}

/** Suspends a webhook until it is updated or its target responds to a ping; must be called inside a transaction. */
export type SuspendWebhook = (webhook: number, reason: string, atMs: number) => void;

export function createSuspendWebhook(database: Database): SuspendWebhook {
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
