/** Options of the webhook service from the configuration, for every process that delivers. */
import type { Options } from "../../config/options.ts";
import { DAY_MS, parseDurationMs } from "../../platform/clock/durations.ts";
import { createAddressCheck, type TargetOptions } from "../../webhooks/connections/guard.ts";
import type { PostOptions } from "../../webhooks/delivery/post.ts";
import type { DeliveryRetention } from "../../webhooks/model/deliveries.ts";
import { DEFAULT_WEBHOOK_OPTIONS, type WebhookOptions } from "../../webhooks/options.ts";

/** Options of deliveries, under their names in the configuration. */
type DeliveryOptions = RetentionOptions &
  Pick<
    Options,
    "webhookPrivateTargets" | "webhookAllow" | "webhookDeny" | "webhookTimeout" | "webhookRetries"
  >;

type RetentionOptions = Pick<Options, "webhookLogDays">;

const CONNECT_TIMEOUT_MS = 3_000;

/** Options of calls to receivers. */
export type CallOptions = Omit<DeliveryOptions, keyof RetentionOptions | "webhookRetries">;

export const toPostOptions = (options: CallOptions): PostOptions => ({
  timeoutMs: options.webhookTimeout * 1_000,
  userAgent: "uniknode",
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  ...toTargetOptions(options),
});

/** Returns the checks of targets that are registered. */
export const toTargetChecks = (options: CallOptions): Pick<WebhookOptions, "isTargetAddress"> => ({
  isTargetAddress: createAddressCheck(toTargetOptions(options)),
});

export const toWebhookOptions = (options: DeliveryOptions): WebhookOptions => ({
  ...DEFAULT_WEBHOOK_OPTIONS,
  ...toTargetChecks(options),
  retryPausesMs: options.webhookRetries.map(parseDurationMs),
  retention: toRetention(options),
  callTimeoutMs: options.webhookTimeout * 1_000,
});

const toTargetOptions = (options: CallOptions): TargetOptions => ({
  allowPrivateTargets: options.webhookPrivateTargets,
  allowedNetworks: options.webhookAllow ?? "",
  deniedNetworks: options.webhookDeny ?? "",
});

/** Returns the bounds of the delivery log and of the queues. */
export function toRetention(options: RetentionOptions): DeliveryRetention {
  const { retention } = DEFAULT_WEBHOOK_OPTIONS;
  const maxAgeMs = options.webhookLogDays * DAY_MS;
  return { ...retention, maxAgeMs, maxFailedAgeMs: Math.max(maxAgeMs, retention.maxFailedAgeMs) };
}
