/** The webhook service as configured by the operator: on or off. */
import { createHistory } from "../../event-log/history.ts";
import type { Receivers } from "../../http/dev/failures.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/observer.ts";
import type { Slices } from "../../subscriptions/conditions/slices.ts";
import { createFailures } from "../../webhooks/delivery/failures.ts";
import { createAddressCheck } from "../../webhooks/delivery/guard.ts";
import { createPost } from "../../webhooks/delivery/post.ts";
import { READER } from "../../webhooks/intake.ts";
import type { WebhookObserver } from "../../webhooks/observer.ts";
import { createSecretCipher } from "../../webhooks/sqlite/secrets/encryption.ts";
import { openSqliteStorage } from "../../webhooks/sqlite/storage.ts";
import { createWebhooks, DEFAULT_WEBHOOK_OPTIONS, type Webhooks } from "../../webhooks/webhooks.ts";
import type { OpenData, ServingContext } from "./context.ts";

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
  const { timeoutMs, retryPausesMs, maxPerSecondPerHost } = data.deliveries;
  const { post, close: closePost } = createPost({
    timeoutMs,
    userAgent: "uniknode",
    ...data.targets,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  closing.add("connections", closePost);
  const failures = data.isDevChain ? createFailures(post, timeoutMs) : undefined;
  const webhooks = createWebhooks(
    {
      ...DEFAULT_WEBHOOK_OPTIONS,
      ...(data.maxWebhooks !== undefined && { maxWebhooks: data.maxWebhooks }),
      httpsOnly: data.targets.httpsOnly,
      isTargetAddress: createAddressCheck(data.targets),
      retryPausesMs,
      maxPerSecondPerHost,
      retention: { ...DEFAULT_WEBHOOK_OPTIONS.retention, ...data.deliveries.retention },
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
