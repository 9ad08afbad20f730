/**
 * Options of `uniknode listen`, and its two sources of deliveries: a webhook that is registered while a receiver runs, or the
 * live stream of events.
 */
import { hash } from "node:crypto";
import { ApiError, createClient, type StreamedEvent } from "@uniknode/client";
import { connectionOptions } from "../../config/connection.ts";
import { optionTable, readChoice, readSwitch, readTexts } from "../../config/define-option.ts";
import type { Config } from "../../config/resolve.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { DEFAULT_POST_OPTIONS, HttpPost } from "../../webhooks/delivery/post.ts";
import { bodyOf, Signer, signingSecretOf } from "../../webhooks/model/message.ts";
import { readReceiverUrl } from "../conform/conform-options.ts";
import { tokenOf, tokenOptions } from "../token.ts";
import { readConditions } from "../webhooks/fields.ts";
import { type ReceivedRequest, startReceiver } from "./receiver.ts";

export const listenOptions = optionTable({
  url: connectionOptions.url,
  ...tokenOptions,
  event: {
    variable: "UNIKNODE_LISTEN_EVENT",
    placeholder: "NAME",
    sentence: "Name of an event, or a pattern such as transaction.*; may be given several times.",
    isRepeatable: true,
    default: ["*"],
    read: readTexts,
  },
  condition: {
    variable: "UNIKNODE_LISTEN_CONDITION",
    placeholder: "TEXT",
    sentence: 'Condition such as "amount gte 100000000"; may be given several times.',
    isRepeatable: true,
    default: [],
    read: readTexts,
  },
  match: {
    variable: "UNIKNODE_LISTEN_MATCH",
    placeholder: "HOW",
    sentence: "Whether any or all of the conditions must be true.",
    default: "any" as const,
    read: readChoice("any", "all"),
  },
  forwardTo: {
    variable: "UNIKNODE_LISTEN_FORWARD_TO",
    placeholder: "URL",
    sentence:
      "Send each event of the live stream to this URL as a signed delivery, instead of registering a webhook.",
    read: readReceiverUrl,
  },
  json: {
    variable: "UNIKNODE_LISTEN_JSON",
    sentence: "Print one JSON object per delivery, and everything else to standard error.",
    default: false,
    read: readSwitch,
  },
});

type ListenDeps = {
  /** Called for each received request. */
  readonly onRequest: (received: ReceivedRequest) => void;
  /** Prints messages about the webhook. */
  readonly report: (text: string) => void;
};

type Listening = {
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
  const { url, event, condition, match } = config;
  const conditions = readConditions(condition);
  const { webhooks } = createClient({ url, webhookToken: tokenOf(config) });
  const secret = Promise.withResolvers<string>();
  const receiver = await startReceiver({ secret: secret.promise, onRequest });
  const { target } = receiver;
  const { data: webhook } = await webhooks
    .create({ events: event, target, conditions, match, order: "strict" })
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

/** Id of the webhook in forwarded deliveries; no webhook has this id. */
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
  // The secret is the same in each run against this node, so that the application is configured once.
  const token = hash("sha256", `secret of forwarded events: ${webhookToken}`);
  const stopping = new AbortController();
  const { signal } = stopping;
  const sender = new HttpPost({ ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true });
  const signer = new Signer();

  async function forward(event: StreamedEvent): Promise<void> {
    const receivedMs = Date.now();
    const { data, position: _, ...message } = event;
    const content = { ...(data !== undefined && { dataText: JSON.stringify(data) }) };
    const body = bodyOf({ ...message, webhook: WEBHOOK, timeMs: receivedMs, content });
    const { id } = message;
    const headers = signer.headersOf({ id, body, secrets: { token } }, receivedMs);
    try {
      const { status = 0 } = await sender.post(
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
      await sender.close();
    },
  };
}
