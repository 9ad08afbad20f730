/** What is sent: the body, and the headers that prove where it comes from (webhooks.md 7 and 10). */
import { createHmac } from "node:crypto";

/** Everything that a body says beside the content of the event. */
export type Envelope = {
  /** Of the first sending, milliseconds since 1970. */
  readonly timestamp: number;
  readonly event: string;
  /** Of the webhook-id header. */
  readonly id: string;
  readonly webhookId: number;
  /** Grows by one with each delivery of the webhook, so that the receiver sees what it missed. */
  readonly sequence: number;
  readonly height?: number;
  readonly blockId?: string;
};

/** The text that is sent and signed. `dataText` is the JSON of the event's content; events without content have none. */
export function bodyOf({ timestamp, ...rest }: Envelope, dataText: string | undefined): string {
  const data = dataText === undefined ? "" : `"data":${dataText},`;
  return `{"timestamp":${timestamp},${data}${JSON.stringify(rest).slice(1)}`;
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
