/** Webhooks of the run: each has its own receiver, and is registered at the node, which hands all of them over to the workers. */
import { createEpochFence } from "@uniknode/client";
import { present } from "../../../src/platform/present.ts";
import type { Database } from "../../../src/store/engine/database.ts";
import { createLastSequence } from "../../../src/store/events/event-log.ts";
import type { Control } from "../actors/control.ts";
import type { Random } from "../actors/random.ts";
import { type Receiver, startReceiver } from "../actors/receiver.ts";
import { bodyOf, type Kind } from "../checks/kinds.ts";

export type ClusterWebhook = {
  readonly id: number;
  readonly kind: Kind;
  readonly receiver: Receiver;
  /** Token, which signs its deliveries. */
  readonly token: string;
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

export type RegistrationDeps = {
  readonly control: Control;
  /** Database of the node. */
  readonly node: Database;
  readonly random: Random;
};

/** Registers a webhook of every kind, while no event is logged. Strict receivers refuse calls of former owners. */
export async function registerWebhooks(
  kinds: readonly Kind[],
  { control, node, random }: RegistrationDeps,
): Promise<Registered> {
  const healthyKinds = HEALTHY_KINDS.map((name) =>
    present(
      kinds.find((kind) => kind.name === name),
      name,
    ),
  );
  const webhooks: ClusterWebhook[] = [];
  for (const [index, kind] of [...kinds, ...healthyKinds].entries()) {
    const receiver = await startReceiver(random, kind.isStrict ? { fence: createEpochFence() } : {});
    const { id, token } = (await control.post("/api/webhooks", {
      ...bodyOf(kind),
      target: receiver.url,
    })) as { readonly id: number; readonly token: string };
    receiver.tokens.add(token);
    const isHealthy = index >= kinds.length;
    if (!isHealthy && index % 2 === 1) await receiver.become("slow");
    webhooks.push({ id, kind, receiver, token, isHealthy });
  }
  return { webhooks, after: createLastSequence(node)() };
}
