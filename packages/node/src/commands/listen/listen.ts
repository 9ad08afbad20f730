/** Registers a webhook for the lifetime of a receiver. */

import { hash } from "node:crypto";
import { ApiError, createClient, type StreamedEvent } from "@uniknode/client";
import type { Config } from "../../config/resolve.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { createPost, DEFAULT_POST_OPTIONS } from "../../webhooks/delivery/post.ts";
import { bodyOf, createHeaders, signingSecretOf } from "../../webhooks/model/message.ts";
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
  /** Rejects if the node refuses the stream that is forwarded. */
  readonly ended?: Promise<void>;
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

/** No webhook has it. */
const WEBHOOK = 0;

/**
 * Sends each event of the live stream to an application, as a signed delivery. Needs no connection from the node to this
 * machine.
 *
 * @throws {ConfigError} on a missing token or an invalid condition
 */
export async function startForwarding(
  config: Config<typeof listenOptions>,
  { onRequest, report }: ListenDeps,
): Promise<Listening> {
  const { url, event: events, condition, match, forwardTo: target = "" } = config;
  const webhookToken = tokenOf(config);
  // The same in each run against the node, so that the application is configured once.
  const token = hash("sha256", `secret of forwarded events: ${webhookToken}`);
  const stopping = new AbortController();
  const { signal } = stopping;
  const { post, close } = createPost({ ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true });
  const headersOf = createHeaders();

  async function forward(event: StreamedEvent): Promise<void> {
    const receivedMs = Date.now();
    const { data, position: _, ...message } = event;
    const content = { ...(data !== undefined && { dataText: JSON.stringify(data) }) };
    const body = bodyOf({ ...message, webhook: WEBHOOK, timeMs: receivedMs, content });
    const { id } = message;
    const headers = headersOf({ id, body, secrets: { token } }, receivedMs);
    try {
      const { status = 0 } = await post(
        { id, webhook: WEBHOOK, target, isStrict: true, headers, body },
        signal,
      );
      const delivery = { ...message, data, timestamp: receivedMs, webhookId: WEBHOOK };
      onRequest({ receivedMs, status, attempt: 1, delivery });
    } catch (error) {
      const { code, message: reason } = error as Error & { code?: string };
      if (!signal.aborted) report(`${message.event} ${id} was not received: ${code ?? reason}`);
    }
  }

  async function run(): Promise<void> {
    const { events: stream } = createClient({ url, webhookToken });
    const conditions = readConditions(condition);
    for await (const event of stream.stream({ events, conditions, match, signal })) await forward(event);
  }

  report(`Events ${events.join(" ")} of ${url} are sent to ${target}, signed with ${signingSecretOf(token)}`);
  report("Ctrl-C stops.\n");
  return {
    ended: run().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
    async stop() {
      stopping.abort();
      await close();
    },
  };
}
