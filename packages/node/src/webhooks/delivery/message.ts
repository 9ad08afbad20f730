/** What is sent: the body, and the headers that prove where it comes from (webhooks.md 7 and 10). */
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { Secrets } from "../../store/webhooks.ts";
import { parseJson } from "../json.ts";
import type { Content } from "./content.ts";

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
  /** Id of the delivery that it takes back. */
  readonly reverts?: string;
} & Omit<Content, "dataText">;

/** The text that is sent and signed. `dataText` is the JSON of the event's content; events without content have none. */
export function bodyOf({ timestamp, ...rest }: Envelope, dataText: string | undefined): string {
  const data = dataText === undefined ? "" : `"data":${dataText},`;
  return `{"timestamp":${timestamp},${data}${JSON.stringify(rest).slice(1)}`;
}

/** The content of the event in a body, as JSON. */
export function dataTextOf(body: string): string | undefined {
  const { data } = parseJson(body) as { data?: unknown };
  return data === undefined ? undefined : JSON.stringify(data);
}

/** What is sent, and the secrets that prove it. */
export type Message = { readonly id: string; readonly body: string; readonly secrets: Secrets };

/** Headers of one attempt. While a token is being replaced, the receiver may know the old one or the new one. */
export type HeadersOf = (message: Message, atMs: number) => Record<string, string>;

/** Tokens whose keys are kept: making a key takes longer than signing with it. */
const MAX_KEYS = 10_000;

export function createHeaders(): HeadersOf {
  const keys = new Map<string, KeyObject>();

  function keyOf(token: string): KeyObject {
    const known = keys.get(token);
    if (known) return known;
    if (keys.size >= MAX_KEYS) keys.clear();
    const key = createSecretKey(token, "hex");
    keys.set(token, key);
    return key;
  }

  return ({ id, body, secrets: { token, previous } }, atMs) => {
    const isOverlap = previous !== undefined && atMs < previous.untilMs;
    const timestamp = `${Math.floor(atMs / 1000)}`;
    const sign = (token: string) =>
      `v1,${createHmac("sha256", keyOf(token)).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
    return {
      "content-type": "application/json",
      // The receiver keeps the other half and compares the whole (7.2). It can hold one token only: the old one first.
      authorization: (isOverlap ? previous.token : token).slice(0, 32),
      // Standard Webhooks 1.0; the secret of its libraries is `whsec_` and the token's bytes in base64.
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": (isOverlap ? [token, previous.token] : [token]).map(sign).join(" "),
    };
  };
}
