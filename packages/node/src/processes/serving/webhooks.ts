/** The webhook service as configured by the operator: on or off. It runs while this node owns the webhooks. */
import type { Receivers } from "../../http/dev/failures.ts";
import type { ProveFact } from "../../proofs/assemble.ts";
import type { MatchingObserver, Slices } from "../../subscriptions/conditions/slices.ts";
import type { WebhookObserver } from "../../webhooks/collaborators.ts";
import { Failures } from "../../webhooks/delivery/failures.ts";
import { NodeSide } from "../../webhooks/hand-over/node-side.ts";
import { ServiceSwitch } from "../../webhooks/hand-over/service-switch.ts";
import { TargetPost } from "../../webhooks/target-post.ts";
import { Webhooks } from "../../webhooks/webhooks.ts";
import type { ServingContext, WebhookSources } from "./sources.ts";
import { toPostOptions, toWebhookOptions } from "./webhook-options.ts";

type WebhooksDeps = {
  readonly observer: WebhookObserver;
  readonly matching: MatchingObserver;
  readonly slices: Slices;
  readonly proveFact: ProveFact;
};

export type OpenWebhooks = {
  readonly service: ServiceSwitch;
  readonly handOver: NodeSide;
  readonly targets: TargetPost;
  /** Receivers that can be made to fail; undefined unless the node is a dev chain. */
  readonly receivers: Receivers | undefined;
};

/** @param sources undefined: the service is off */
export function buildWebhooks(
  { data, closing, logger }: ServingContext,
  sources: WebhookSources | undefined,
  deps: WebhooksDeps,
): OpenWebhooks | undefined {
  if (!sources) return undefined;
  const postOptions = toPostOptions(data);
  const targets = new TargetPost(postOptions);
  closing.add("connections", () => targets.close());
  const failures = data.isDevChain ? new Failures(targets.post, postOptions.timeoutMs) : undefined;
  const { openStorage, handOver: rows, webhooksChanged, history } = sources;
  const options = { ...toWebhookOptions(data), webhookLimit: data.webhookLimit };
  const service = new ServiceSwitch({
    open: () =>
      new Webhooks(options, {
        storage: openStorage(),
        webhooksChanged,
        history,
        logger,
        post: (failures ?? targets).post,
        ...deps,
      }),
    owner: () => rows.owner(),
    logger,
  });
  const handOver = new NodeSide(
    { graceMs: options.callTimeoutMs },
    { rows, service, webhooksChanged, logger },
  );
  handOver.start();
  closing.add("webhooks", () => handOver.close());
  const receivers = failures && { failures, register: service.requests.register };
  return { service, handOver, targets, receivers };
}
