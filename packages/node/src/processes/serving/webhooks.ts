/** The webhook service as configured by the operator: on or off. */
import { parsePauseMs } from "../../config/pauses.ts";
import type { Receivers } from "../../http/dev/failures.ts";
import { DAY_MS } from "../../platform/clock/durations.ts";
import type { MatchingObserver, Slices } from "../../subscriptions/conditions/slices.ts";
import type { WebhookObserver } from "../../webhooks/collaborators.ts";
import { createFailures } from "../../webhooks/delivery/failures.ts";
import { createAddressCheck, type TargetOptions } from "../../webhooks/delivery/guard.ts";
import type { DeliveryRetention } from "../../webhooks/model/deliveries.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../../webhooks/options.ts";
import { createTargetPost } from "../../webhooks/target-post.ts";
import { createWebhooks, type Webhooks } from "../../webhooks/webhooks.ts";
import type { ServingContext } from "./context.ts";
import type { ServingOptions } from "./options.ts";
import type { WebhookSources } from "./sources.ts";

export type WebhooksDeps = {
  readonly observer: WebhookObserver;
  readonly matching: MatchingObserver;
  readonly slices: Slices;
};

const CONNECT_TIMEOUT_MS = 3_000;

export type OpenWebhooks = {
  readonly webhooks: Webhooks;
  /** Receivers that can be made to fail; undefined unless the node is a dev chain. */
  readonly receivers: Receivers | undefined;
  /** Returns the number of open connections to NATS servers. */
  readonly natsConnections: () => number;
};

/** @param sources undefined: the service is off */
export function buildWebhooks(
  { data, closing, logger }: ServingContext,
  sources: WebhookSources | undefined,
  deps: WebhooksDeps,
): OpenWebhooks | undefined {
  if (!sources) return undefined;
  const timeoutMs = data.webhookTimeout * 1_000;
  const targets = toTargetOptions(data);
  const {
    post,
    natsConnections,
    close: closePost,
  } = createTargetPost({
    timeoutMs,
    userAgent: "uniknode",
    ...targets,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  closing.add("connections", closePost);
  const failures = data.isDevChain ? createFailures(post, timeoutMs) : undefined;
  const webhooks = createWebhooks(
    {
      ...DEFAULT_WEBHOOK_OPTIONS,
      webhookLimit: data.webhookLimit,
      httpsOnly: targets.httpsOnly,
      isTargetAddress: createAddressCheck(targets),
      webhookHostRate: data.webhookHostRate,
      retryPausesMs: data.webhookRetries.map(parsePauseMs),
      retention: toRetention(data),
    },
    {
      ...sources,
      post: failures?.post ?? post,
      ...deps,
      logger,
    },
  );
  closing.add("webhooks", webhooks.close);
  return {
    webhooks,
    receivers: failures && { failures, register: webhooks.register },
    natsConnections,
  };
}

const toTargetOptions = (
  options: Pick<
    ServingOptions,
    "webhookPrivateTargets" | "webhookAllow" | "webhookDeny" | "webhookHttpsOnly"
  >,
): TargetOptions => ({
  allowPrivateTargets: options.webhookPrivateTargets,
  allowedNetworks: options.webhookAllow ?? "",
  deniedNetworks: options.webhookDeny ?? "",
  httpsOnly: options.webhookHttpsOnly,
});

/** Returns the bounds of the delivery log and of the queues. */
export const toRetention = (
  options: Pick<
    ServingOptions,
    "webhookLogDays" | "webhookLogFailedDays" | "webhookLogSize" | "webhookQueueSize"
  >,
): DeliveryRetention => ({
  ...DEFAULT_WEBHOOK_OPTIONS.retention,
  maxAgeMs: options.webhookLogDays * DAY_MS,
  maxFailedAgeMs: options.webhookLogFailedDays * DAY_MS,
  maxDeliveries: options.webhookLogSize,
  maxWaiting: options.webhookQueueSize,
});
