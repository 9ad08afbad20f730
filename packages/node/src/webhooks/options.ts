/** Options of the webhook service. Options of the configuration have the same names and defaults there. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../platform/clock/durations.ts";
import { MAX_CONTENT_BYTES } from "../subscriptions/content.ts";
import type { DeliveryRetention } from "./model/deliveries.ts";

export type WebhookOptions = {
  readonly webhookLimit: number;
  /** Returns whether deliveries may go to an address. */
  readonly isTargetAddress: (address: string) => boolean;
  /** Maximum of concurrent calls of all webhooks, not counting the first call of each. */
  readonly maxConcurrent: number;
  /** Maximum of concurrent first attempts of one webhook, unless its order is strict. */
  readonly maxConcurrentPerWebhook: number;
  /** Pauses between the attempts of a delivery, one after each failed attempt except the last. */
  readonly retryPausesMs: readonly number[];
  /** Time of uninterrupted failures after which a webhook is suspended. */
  readonly suspendAfterMs: number;
  readonly retention: DeliveryRetention;
  /** Maximum size of a content; larger contents are reduced to their identifying members. */
  readonly maxContentBytes: number;
  /** Timeout of a call: see `PostOptions`. A call starts only if this process owns its webhook for as long. */
  readonly callTimeoutMs: number;
  /** Time that `close` waits for responses before it aborts the calls. */
  readonly closeGraceMs: number;
};

/** Default pauses between attempts, one after each failed attempt except the last. */
export const DEFAULT_RETRY_PAUSES_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  24 * HOUR_MS,
];

export const DEFAULT_WEBHOOK_OPTIONS: WebhookOptions = {
  webhookLimit: 1_000,
  isTargetAddress: () => true,
  maxConcurrent: 256,
  maxConcurrentPerWebhook: 8,
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
