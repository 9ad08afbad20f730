/** `uniknode listen`: a webhook of its own for as long as it runs. */
import { ApiError, createClient } from "@uniknode/client";
import type { Config } from "../../config/resolve.ts";
import { ConfigError } from "../../platform/config-error.ts";
import { readConditions } from "./condition.ts";
import type { listenOptions } from "./options.ts";
import { type Arrival, startReceiver } from "./receiver.ts";

export type ListenDeps = {
  readonly onArrival: (arrival: Arrival) => void;
  /** Says how things stand. */
  readonly tell: (text: string) => void;
};

export type Listening = {
  /**
   * Removes the webhook and stops to receive.
   *
   * @throws {Error} when the webhook is still there; the message says how to remove it
   */
  stop(): Promise<void>;
};

/**
 * Starts to receive, and registers a webhook that points here.
 *
 * @throws {ConfigError} for options that make no sense together
 * @throws {ApiError} when the node is not there, or does not take the webhook
 */
export async function startListening(
  { url, token, event, condition, match, port, status, delay }: Config<typeof listenOptions>,
  { onArrival, tell }: ListenDeps,
): Promise<Listening> {
  if (token === undefined) {
    throw new ConfigError("give --token TOKEN: the webhook token that the node shows when it starts");
  }
  const conditions = readConditions(condition);
  const { webhooks } = createClient({ url, webhookToken: token });
  const secret = Promise.withResolvers<string>();
  const receiver = await startReceiver(
    { port, status, delayMs: delay },
    { secret: secret.promise, onArrival },
  );
  const { target } = receiver;
  const { data: webhook } = await webhooks
    .create({ events: event, target, conditions, match })
    .catch(async (error: unknown) => {
      await receiver.close();
      throw error;
    });
  secret.resolve(webhook.token);
  tell(`Webhook ${webhook.id} of ${url} delivers ${event.join(" ")} to ${target}`);
  tell("Ctrl-C ends this and removes the webhook.\n");

  async function remove(): Promise<void> {
    try {
      await webhooks.remove(webhook.id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Somebody else removed it.
      if (error.code === "API_NOT_FOUND") return;
      throw new Error(
        `webhook ${webhook.id} could not be removed (${error.message}). Once the node is back: ` +
          `curl -X DELETE -H "Authorization: TOKEN" ${url}/api/webhooks/${webhook.id}`,
        { cause: error },
      );
    }
  }

  return {
    async stop() {
      try {
        await remove();
        tell(`\nRemoved webhook ${webhook.id}.`);
      } finally {
        await receiver.close();
      }
    },
  };
}
