/** Options of the webhook service. Options of the configuration have the same names and defaults there. */
import { DAY_MS } from "../platform/clock/durations.ts";
import { MAX_CONTENT_BYTES } from "../subscriptions/content.ts";
import { DEFAULT_RETRY_PAUSES_MS } from "./delivery/retry.ts";
import type { DeliveryRetention } from "./model/deliveries.ts";

export type WebhookOptions = {
  readonly webhookLimit: number;
  /** Returns whether deliveries may go to an address. */
  readonly isTargetAddress: (address: string) => boolean;
  /** Maximum of concurrent calls of all webhooks, not counting the first call of each. */
  readonly maxConcurrent: number;
  /** Maximum of concurrent first attempts of one webhook, unless its order is strict. */
  readonly maxConcurrentPerWebhook: number;
  /** Maximum of calls per second to one host; 0 for no limit. */
  readonly webhookHostRate: number;
  /** Pauses between the attempts of a delivery, one after each failed attempt except the last. */
  readonly retryPausesMs: readonly number[];
  /** Time of uninterrupted failures after which a webhook is suspended. */
  readonly suspendAfterMs: number;
  readonly retention: DeliveryRetention;
  /** Maximum size of a content; larger contents are reduced to their identifying members. */
  readonly maxContentBytes: number;
  /** Timeout of a call: see `PostOptions`. */
  readonly callTimeoutMs: number;
  /** Time that `close` waits for responses before it aborts the calls. */
  readonly closeGraceMs: number;
};

export const DEFAULT_WEBHOOK_OPTIONS: WebhookOptions = {
  webhookLimit: 1_000,
  isTargetAddress: () => true,
  maxConcurrent: 256,
  maxConcurrentPerWebhook: 8,
  webhookHostRate: 0,
  retryPausesMs: DEFAULT_RETRY_PAUSES_MS,
  suspendAfterMs: 5 * DAY_MS,
  retention: {
    maxAgeMs: 7 * DAY_MS,
    maxFailedAgeMs: 30 * DAY_MS,
    maxDeliveries: 1_000_000,
    maxWaiting: 1_000_000,
    keptBlocks: 500,
  },
  maxContentBytes: MAX_CONTENT_BYTES,
  callTimeoutMs: 10_000,
  closeGraceMs: 2_000,
};
