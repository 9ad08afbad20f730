/** Registers a webhook for the lifetime of a receiver. */

import { ApiError, createClient } from "@uniknode/client";
import type { Config } from "../../config/resolve.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { tokenOf } from "../access/local-token.ts";
import { readConditions } from "./condition.ts";
import type { listenOptions } from "./options.ts";
import { type ReceivedRequest, startReceiver } from "./receiver.ts";

export type ListenDeps = {
  /** Called for each received request. */
  readonly onRequest: (received: ReceivedRequest) => void;
  /** Prints messages about the webhook. */
  readonly report: (text: string) => void;
};

export type Listening = {
  /**
   * Removes the webhook and stops the receiver.
   *
   * @throws {Error} if the webhook could not be removed; the message says how to remove it
   */
  stop(): Promise<void>;
};

/**
 * Starts a receiver and registers it as the target of a webhook.
 *
 * @throws {ConfigError} on a missing token or an invalid condition
 * @throws {ApiError} if the node does not respond or refuses the webhook
 */
export async function startListening(
  config: Config<typeof listenOptions>,
  { onRequest, report }: ListenDeps,
): Promise<Listening> {
  const { url, event, condition, match, order, port, status, delay } = config;
  const conditions = readConditions(condition);
  const { webhooks } = createClient({ url, webhookToken: tokenOf(config) });
  const secret = Promise.withResolvers<string>();
  const receiver = await startReceiver(
    { port, status, delayMs: delay },
    { secret: secret.promise, onRequest },
  );
  const { target } = receiver;
  const { data: webhook } = await webhooks
    .create({ events: event, target, conditions, match, order })
    .catch(async (error: unknown) => {
      await receiver.close();
      throw error;
    });
  secret.resolve(webhook.token);
  report(`Webhook ${webhook.id} of ${url} delivers ${event.join(" ")} to ${target}`);
  report("Ctrl-C stops the receiver and removes the webhook.\n");

  async function remove(): Promise<void> {
    try {
      await webhooks.remove(webhook.id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Another client has already removed it.
      if (error.code === "API_NOT_FOUND") return;
      throw new CodedError(
        "WEBHOOK_LEFT",
        `webhook ${webhook.id} could not be removed (${error.message}). When the node is running again: ` +
          `uniknode webhooks delete ${webhook.id} --url ${url}`,
        { isRetryable: true, cause: error },
      );
    }
  }

  return {
    async stop() {
      try {
        await remove();
        report(`\nRemoved webhook ${webhook.id}.`);
      } finally {
        await receiver.close();
      }
    },
  };
}
