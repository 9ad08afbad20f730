/** Webhook and delivery actions as commands and code. */

import type { DeliveryRecord } from "@uniknode/client";
import type { Form } from "../../components/equivalent-forms.tsx";
import { curlOf, programOf, quoted } from "../../components/equivalents.ts";

type Step = {
  readonly title: string;
  readonly method: "POST" | "PUT" | "DELETE";
  /** Path after `/api/v2/webhooks/`. */
  readonly path: string;
  readonly body?: object;
  readonly statement: string;
  readonly command: string;
};

const formsOf = (steps: readonly Step[], origin: string): readonly Form[] => {
  const text = (lineOf: (step: Step) => string, comment: string) =>
    steps.map((step) => `${comment} ${step.title}\n${lineOf(step)}`).join("\n\n");
  return [
    {
      id: "curl",
      title: "curl",
      text: text(({ method, path, body }) => curlOf(method, `${origin}/api/v2/webhooks/${path}`, body), "#"),
    },
    {
      id: "client",
      title: "JavaScript",
      text: programOf(
        text(({ statement }) => `await client.webhooks.${statement};`, "//"),
        origin,
      ),
    },
    {
      id: "command",
      title: "Command line",
      text: text(({ command }) => `uniknode webhooks ${command}`, "#"),
    },
  ];
};

export const webhookForms = (id: number, enabled: boolean, origin: string): readonly Form[] =>
  formsOf(
    [
      {
        title: "Ping",
        method: "POST",
        path: `${id}/ping`,
        body: {},
        statement: `ping(${id})`,
        command: `ping ${id}`,
      },
      {
        title: enabled ? "Pause" : "Resume",
        method: "PUT",
        path: `${id}`,
        body: { enabled: !enabled },
        statement: `update(${id}, { enabled: ${!enabled} })`,
        command: `${enabled ? "pause" : "resume"} ${id}`,
      },
      {
        title: "Rotate the secret",
        method: "POST",
        path: `${id}/rotate`,
        body: { overlapSeconds: 86_400 },
        statement: `rotate(${id}, { overlapSeconds: 86400 })`,
        command: `rotate ${id} --overlap 86400`,
      },
      {
        title: "Send all undelivered now",
        method: "POST",
        path: `${id}/deliveries/retry`,
        body: { state: "all" },
        statement: `retryAll(${id}, { state: "all" })`,
        command: `retry ${id} --state all`,
      },
      {
        title: "Delete",
        method: "DELETE",
        path: `${id}`,
        statement: `remove(${id})`,
        command: `delete ${id}`,
      },
    ],
    origin,
  );

export const deliveryForms = (webhook: string, delivery: number, origin: string): readonly Form[] =>
  formsOf(
    [
      {
        title: "Send again",
        method: "POST",
        path: `${webhook}/deliveries/${delivery}/retry`,
        body: {},
        statement: `retry(${webhook}, ${delivery})`,
        command: `retry ${webhook} ${delivery}`,
      },
    ],
    origin,
  );

/** Lists the headers of an attempt, with the text that the signature signs. */
export const headersOf = (
  { messageId, sequence }: Pick<DeliveryRecord, "messageId" | "sequence">,
  startedAtMs: number,
): string => {
  const seconds = Math.floor(startedAtMs / 1_000);
  return [
    "content-type: application/json",
    "authorization: FIRST HALF OF THE TOKEN",
    `webhook-id: ${messageId}`,
    `webhook-timestamp: ${seconds}`,
    `webhook-signature: v1,BASE64 of HMAC-SHA256(key, "${messageId}.${seconds}." + body)`,
    ...(sequence === undefined ? [] : [`webhook-sequence: ${sequence}`]),
  ].join("\n");
};

/**
 * Builds the request of a delivery as a command, for developing receivers. It has no signature, which requires the secret.
 *
 * @param body JSON text
 */
export function requestOf(target: string, messageId: string, body: string): string {
  const [, server = "", subject] = /^((?:nats|tls):\/\/[^/]+)\/(.+)$/i.exec(target) ?? [];
  return subject === undefined
    ? postOf(target, messageId, body)
    : publicationOf(server, subject, messageId, body);
}

const publicationOf = (server: string, subject: string, messageId: string, body: string): string =>
  `nats publish --server ${quoted(server)} -H ${quoted(`Nats-Msg-Id: ${messageId}`)} \\
  -H ${quoted(`webhook-id: ${messageId}`)} ${quoted(subject)} ${quoted(body)}`;

const postOf = (target: string, messageId: string, body: string): string =>
  `curl -X POST -H "Content-Type: application/json" -H ${quoted(`webhook-id: ${messageId}`)} \\
  -d ${quoted(body)} ${quoted(target)}`;
