/** Messages: the body, and the headers that authenticate the sender (webhooks.md 7 and 10). */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { Lru } from "../../platform/bounded-entries.ts";
import type { DeliveryMessage } from "./deliveries.ts";
import type { Secrets } from "./webhook.ts";

/**
 * Returns the text to send and sign: the three members of the old format (webhooks.md 7.1), then the members that
 * identify the message. Events without content have no `data`.
 *
 * @param proofText JSON text of the member `proof`; undefined: the body has none
 */
export function bodyOf(message: DeliveryMessage, proofText?: string): string {
  const { event, id, webhook: webhookId, height, blockId, reverts, timeMs, content } = message;
  const { dataText, ...fitting } = content;
  const data = dataText === undefined ? "" : `"data":${dataText},`;
  const rest = JSON.stringify({ event, id, webhookId, height, blockId, reverts, ...fitting });
  const proof = proofText === undefined ? "" : `,"proof":${proofText}`;
  return `{"timestamp":${timeMs},${data}${rest.slice(1, -1)}${proof}}`;
}

/** A message, and the secrets that sign it. */
export type OutgoingMessage = {
  readonly message: DeliveryMessage;
  readonly secrets: Secrets;
  readonly proofDepth?: number;
  /** Text to send instead of the body of the message. */
  readonly body?: string;
  /** Epoch of the sender; absent for a message outside of the queue. */
  readonly epoch?: number | undefined;
};

/** A message as text, with its id, its position among those of the sender, and the secrets that sign it. */
type SignedMessage = {
  readonly id: string;
  readonly body: string;
  readonly secrets: Secrets;
  readonly sequence?: number | undefined;
  readonly epoch?: number | undefined;
};

const TOKEN_BYTES = 32;
/** Number of digits of a token in the header. */
const HALF_LENGTH = 32;

export const createToken = (): string => randomBytes(TOKEN_BYTES).toString("hex");

/** Returns whether a token is one half from a register of the old node, whose ASCII text is the signature key. */
export const isHalf = (token: string): boolean => token.length === HALF_LENGTH;

const encodingOf = (token: string) => (isHalf(token) ? "ascii" : "hex");

/** Returns the signature key in the format of the Standard Webhooks libraries. */
export const signingSecretOf = (token: string): string =>
  `whsec_${Buffer.from(token, encodingOf(token)).toString("base64")}`;

/** Maximum number of cached keys: creating a key takes longer than signing with it. */
const MAX_KEYS = 10_000;

export class Signer {
  readonly #keys = new Lru<string, KeyObject>(MAX_KEYS);

  /** Returns the headers of one attempt. During a rotation, both the old and the new token sign the message. */
  headersOf(signed: SignedMessage, atMs: number): Record<string, string> {
    const { id, secrets, sequence, epoch } = signed;
    const { token, previous } = secrets;
    const isOverlap = previous !== undefined && atMs < previous.untilMs;
    const timestamp = `${Math.floor(atMs / 1000)}`;
    const text = `${id}.${timestamp}.${signed.body}`;
    return {
      "content-type": "application/json",
      // The receiver keeps the other half and compares the whole token (webhooks.md 7.2). The header has one token: the
      // new one, from the rotation on (webhooks.md 10 point 8). A receiver that does not have it yet refuses the request,
      // and gets the delivery again with the retry.
      authorization: token.slice(0, HALF_LENGTH),
      // Standard Webhooks 1.0; its libraries verify with `signingSecretOf` the token.
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": (isOverlap ? [token, previous.token] : [token])
        .map((token) => this.#sign(text, token))
        .join(" "),
      // Not in the body: a sender with an older copy of the data gives the same message others (webhooks.md 10 point 16).
      ...(sequence !== undefined && { "webhook-sequence": `${sequence}` }),
      ...(epoch !== undefined && { "webhook-epoch": `${epoch}` }),
    };
  }

  #sign(text: string, token: string): string {
    const key = this.#keys.get(token, () => createSecretKey(token, encodingOf(token)));
    return `v1,${createHmac("sha256", key).update(text).digest("base64")}`;
  }
}
