/** The webhook service as configured by the operator: on or off. */
import { parsePauseMs } from "../../config/pauses.ts";
import { createHistory } from "../../event-log/history.ts";
import type { Receivers } from "../../http/dev/failures.ts";
import { DAY_MS } from "../../platform/clock/durations.ts";
import type { MatchingObserver, Slices } from "../../subscriptions/conditions/slices.ts";
import type { WebhookObserver } from "../../webhooks/collaborators.ts";
import { createFailures } from "../../webhooks/delivery/failures.ts";
import { createAddressCheck, type TargetOptions } from "../../webhooks/delivery/guard.ts";
import { createPost } from "../../webhooks/delivery/post.ts";
import { READER } from "../../webhooks/intake.ts";
import type { DeliveryRetention } from "../../webhooks/model/deliveries.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../../webhooks/options.ts";
import { createSecretCipher } from "../../webhooks/sqlite/secrets/encryption.ts";
import { openSqliteStorage } from "../../webhooks/sqlite/storage.ts";
import { createWebhooks, type Webhooks } from "../../webhooks/webhooks.ts";
import type { OpenData, ServingContext } from "./context.ts";
import type { ServingOptions } from "./options.ts";

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
};

/** Undefined: the service is off. No cursor keeps events in the log then, and no deliveries are created. */
export function buildWebhooks(
  { data, network, gateway, closing, logger }: ServingContext,
  { database, eventLog }: OpenData,
  deps: WebhooksDeps,
): OpenWebhooks | undefined {
  if (data.webhooks === "off") {
    eventLog.removeCursor(READER);
    return undefined;
  }
  const timeoutMs = data.webhookTimeout * 1_000;
  const targets = toTargetOptions(data);
  const { post, close: closePost } = createPost({
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
      storage: openSqliteStorage({ database, eventLog, cipher: createSecretCipher(data.secretKey) }),
      webhooksChanged: gateway.webhooksChanged,
      history: createHistory(database, network),
      post: failures?.post ?? post,
      ...deps,
      logger,
    },
  );
  closing.add("webhooks", webhooks.close);
  return { webhooks, receivers: failures && { failures, register: webhooks.register } };
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
