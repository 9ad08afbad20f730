/** What is sent: the body, its id, and the headers that prove where it comes from (webhooks.md 7 and 10). */
import { createHash, createHmac } from "node:crypto";
import type { LoggedEvent } from "../../events/event.ts";

/**
 * Id of the delivery of an event to a webhook. The same event has one id for ever, whatever crashes between; a fact
 * that comes back after a reorganisation is another event in the log and has another id.
 */
export function deliveryId({ id, sequence }: LoggedEvent, webhook: number): string {
  const digest = createHash("sha256").update(`${id}\n${sequence}\n${webhook}`).digest("hex");
  return `msg_${digest.slice(0, 32)}`;
}

/** The text that is sent and signed. `dataText` is the JSON of the event's content, made once for all webhooks. */
export function bodyOf(
  event: LoggedEvent,
  dataText: string | undefined,
  webhook: { readonly id: number; readonly event: string },
  atMs: number,
): string {
  const rest = JSON.stringify({
    event: webhook.event,
    id: deliveryId(event, webhook.id),
    webhookId: webhook.id,
    sequence: event.sequence,
    height: event.height,
    blockId: event.blockId,
  }).slice(1);
  return `{"timestamp":${atMs},${dataText === undefined ? "" : `"data":${dataText},`}${rest}`;
}

/** What is sent. `token` has 64 hexadecimal digits. */
export type Message = { readonly id: string; readonly body: string; readonly token: string };

/** Headers of one attempt. */
export function headersOf({ id, body, token }: Message, atMs: number): Record<string, string> {
  const timestamp = `${Math.floor(atMs / 1000)}`;
  const signature = createHmac("sha256", Buffer.from(token, "hex"))
    .update(`${id}.${timestamp}.${body}`)
    .digest("base64");
  return {
    "content-type": "application/json",
    // The receiver keeps the other half and compares the whole (7.2).
    authorization: token.slice(0, 32),
    // Standard Webhooks 1.0; the secret of its libraries is `whsec_` and the token's bytes in base64.
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}
