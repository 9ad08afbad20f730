/** Ends the deliveries of a webhook until it is updated or its target answers a ping (webhooks.md 10 point 6). */
import type { Logger } from "pino";
import type { FinishedDeliveryStore } from "../store/webhooks/finished-deliveries.ts";
import type { ReplayStore } from "../store/webhooks/replays.ts";
import type { WebhookHealthStore } from "../store/webhooks/webhook-health.ts";

/** `reason` is shown in the register. To be called inside a transaction. */
export type Suspend = (webhook: number, reason: string, atMs: number) => void;

export type SuspensionDeps = {
  health: Pick<WebhookHealthStore, "suspend">;
  finishedDeliveries: Pick<FinishedDeliveryStore, "announce">;
  replays: Pick<ReplayStore, "end">;
  logger: Pick<Logger, "info">;
};

export function createSuspend({ health, finishedDeliveries, replays, logger }: SuspensionDeps): Suspend {
  return (webhook, reason, atMs) => {
    health.suspend(webhook, { reason, sinceMs: atMs });
    // What waits becomes dead letters: they can be sent again when the webhook is back.
    finishedDeliveries.announce(webhook, { state: "failed", reason });
    replays.end(webhook, "cancelled", atMs, reason);
    logger.info({ webhook, reason }, "webhook suspended until it is updated or a ping succeeds");
  };
}
