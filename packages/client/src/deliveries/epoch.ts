/** Rejects late calls of former owners of a webhook (docs/guides/webhooks.md, "Late calls of a former sender"). */
import type { VerifiedDelivery } from "./verify.ts";

export type EpochFence = {
  /**
   * Returns false if a later owner of the webhook has already sent a delivery: do not handle this one, and respond with 409.
   * Deliveries without an epoch are accepted. Call it only with verified deliveries.
   */
  accepts(delivery: Pick<VerifiedDelivery, "webhookId" | "epoch">): boolean;
};

/** Creates a fence that remembers the highest epoch of each webhook, in memory. */
export function createEpochFence(): EpochFence {
  const highest = new Map<number, number>();
  return {
    accepts({ webhookId, epoch }) {
      if (epoch === undefined) return true;
      if (epoch < (highest.get(webhookId) ?? 0)) return false;
      highest.set(webhookId, epoch);
      return true;
    },
  };
}
