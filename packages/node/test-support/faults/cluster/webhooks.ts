/** Webhooks of the run: each has its own receiver, and is registered at the node, which hands all of them over to the workers. */
import { createEpochFence } from "@uniknode/client";
import { present } from "../../../src/platform/present.ts";
import { type Register, registerSubject, type Subject } from "../actors/subject.ts";
import type { Kind } from "../checks/kinds.ts";

export type ClusterWebhook = Subject & {
  readonly kind: Kind;
  /** The receiver responds with 2xx during the whole run. */
  readonly isHealthy: boolean;
};

export type Registered = {
  readonly webhooks: readonly ClusterWebhook[];
  /** Sequence of the last event that they do not receive. */
  readonly after: number;
};

/** Kinds that have a second webhook, whose receiver is healthy. */
const HEALTHY_KINDS = ["every block", "every transaction", "ledger, strict", "three confirmations"];

/**
 * Registers a webhook of every kind, while no event is logged. Strict receivers refuse calls of former owners.
 *
 * @param webhooks gets every webhook
 */
export async function registerWebhooks(
  kinds: readonly Kind[],
  register: Register,
  webhooks: ClusterWebhook[],
): Promise<void> {
  const healthyKinds = HEALTHY_KINDS.map((name) => present(kinds.find((kind) => kind.name === name)));
  for (const [index, kind] of [...kinds, ...healthyKinds].entries()) {
    const fence = kind.isStrict ? { fence: createEpochFence() } : {};
    const subject = await registerSubject(kind, register, fence);
    const isHealthy = index >= kinds.length;
    if (!isHealthy && index % 2 === 1) await subject.receiver.become("slow");
    webhooks.push({ ...subject, kind, isHealthy });
  }
}
