/** Webhooks of the run: each has its own receiver, and is registered in PostgreSQL. */
import { randomBytes } from "node:crypto";
import { createEpochFence } from "@uniknode/client";
import { subscribedNames } from "../../src/events/names.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { createPostgresRegisterCommands } from "../../src/webhooks/postgres/register/register-commands.ts";
import { readNewWebhook } from "../../src/webhooks/register/fields.ts";
import { PLAIN_SECRETS } from "../../src/webhooks/secrets/encryption.ts";
import { recordEvents } from "../mirror/dev-chain.ts";
import { bodyOf, type Kind } from "../simulation/kinds.ts";
import type { Random } from "../simulation/random.ts";
import { type Receiver, startReceiver } from "../simulation/receiver.ts";

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

/** Kinds that have a second webhook, whose receiver is healthy: their lag is measured. */
const HEALTHY_KINDS = ["every block", "every transaction", "ledger, strict", "three confirmations"];
const WEBHOOK_LIMIT = 1_000;

/**
 * Registers a webhook of every kind, while no block is created. Strict receivers refuse calls of former owners.
 *
 * @param nodeUrl base URL of the node, whose log must record the events
 */
export async function registerWebhooks(
  kinds: readonly Kind[],
  { postgres, nodeUrl, random }: { postgres: Postgres; nodeUrl: string; random: Random },
): Promise<Registered> {
  const after = await recordEvents(nodeUrl, namesOf(kinds));
  const { insert, activate } = createPostgresRegisterCommands({
    postgres,
    cipher: PLAIN_SECRETS,
    lastEvent: async () => after,
  });
  const healthyKinds = kinds.filter(({ name }) => HEALTHY_KINDS.includes(name));
  const webhooks: ClusterWebhook[] = [];
  for (const [index, kind] of [...kinds, ...healthyKinds].entries()) {
    const receiver = await startReceiver(random, kind.isStrict ? createEpochFence() : undefined);
    const token = randomBytes(32).toString("hex");
    const { ping: _, ...fields } = readNewWebhook({ ...bodyOf(kind), target: receiver.url });
    const { id } = await insert({ fields, token }, WEBHOOK_LIMIT);
    receiver.tokens.add(token);
    webhooks.push({ id, kind, receiver, token, isHealthy: index >= kinds.length });
    await activate(id);
  }
  return { webhooks, after };
}

/** Returns the names of the events that the log must record for webhooks (`createWebhookStore`). */
function namesOf(kinds: readonly Kind[]): string[] {
  const given = kinds.flatMap((kind) => bodyOf(kind).events);
  return [...new Set([...subscribedNames(given).keys(), "block.applied", "block.reverted"])];
}
