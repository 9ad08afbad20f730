/** The webhook service as configured by the operator: on or off. */
import type { Receivers } from "../../http/dev/failures.ts";
import type { MatchingObserver, Slices } from "../../subscriptions/conditions/slices.ts";
import type { WebhookObserver } from "../../webhooks/collaborators.ts";
import { createFailures } from "../../webhooks/delivery/failures.ts";
import { createTargetPost } from "../../webhooks/target-post.ts";
import { createWebhooks, type Webhooks } from "../../webhooks/webhooks.ts";
import type { ServingContext } from "./context.ts";
import type { WebhookSources } from "./sources.ts";
import { toPostOptions, toWebhookOptions } from "./webhook-options.ts";

export type WebhooksDeps = {
  readonly observer: WebhookObserver;
  readonly matching: MatchingObserver;
  readonly slices: Slices;
};

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
  const postOptions = toPostOptions(data);
  const { post, natsConnections, close: closePost } = createTargetPost(postOptions);
  closing.add("connections", closePost);
  const failures = data.isDevChain ? createFailures(post, postOptions.timeoutMs) : undefined;
  const webhooks = createWebhooks(
    { ...toWebhookOptions(data), webhookLimit: data.webhookLimit },
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
