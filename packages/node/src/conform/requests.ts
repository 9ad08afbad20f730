/** The requests of scenarios, signed and sent as the node does. */
import { createPost, DEFAULT_POST_OPTIONS } from "../webhooks/delivery/post.ts";
import type { DeliveryMessage } from "../webhooks/model/deliveries.ts";
import { bodyOf, createHeaders } from "../webhooks/model/message.ts";
import type { Secrets } from "../webhooks/model/webhook.ts";
import {
  type Parts,
  type SlowOptions,
  type Split,
  sendCopies,
  sendHalf,
  sendPieces,
} from "./slow-requests.ts";

export type RequestOptions = SlowOptions & {
  /** Token that the receiver verifies with. */
  readonly token: string;
};

/** Properties of one attempt. */
export type How = {
  readonly epoch?: number;
  /** Age of the signature; negative: signed in the future. */
  readonly ageMs?: number;
  /** JSON text of the member `proof`; absent: the body has none. */
  readonly proofText?: string;
  /** Secrets that sign. Default: that of the receiver. */
  readonly secrets?: Secrets;
  /** Changes the request after it was signed. */
  readonly alter?: (parts: Parts) => Parts;
};

export type Requests = {
  /**
   * Sends a message as the node does. Resolves to the status.
   *
   * @throws {Error} if there is no response
   */
  send(message: DeliveryMessage, how: How): Promise<number>;
  /**
   * Sends a body in pieces, with a pause after each. Resolves to the status.
   *
   * @throws {Error} if there is no response
   */
  sendPieces(message: DeliveryMessage, split: Split): Promise<number>;
  /**
   * Sends copies of a message that are complete at the same time. Resolves to their statuses.
   *
   * @throws {Error} if there is no response to one of them
   */
  sendCopies(message: DeliveryMessage, copies: number): Promise<readonly number[]>;
  /** Sends half of a body, and closes the connection. */
  sendHalf(message: DeliveryMessage): Promise<void>;
  /** Closes the connections, which end with the process of the receiver. */
  reconnect(): Promise<void>;
  close(): Promise<void>;
};

const headersOf = createHeaders();

/** Creates the requests of one scenario, whose connections are reused as those of the node. */
export function createRequests(options: RequestOptions, signal: AbortSignal): Requests {
  const { target, token } = options;
  let sender = openSender(options);
  const partsOf = (message: DeliveryMessage, how: How = {}) =>
    signedParts(message, { secrets: { token }, ...how });
  return {
    async send(message, how) {
      const { id, webhook } = message;
      const response = await sender.post(
        { id, webhook, target, isStrict: false, ...partsOf(message, how) },
        signal,
      );
      return response.status ?? 0;
    },
    sendPieces: (message, split) => sendPieces(options, partsOf(message), split, signal),
    sendCopies: (message, copies) => sendCopies(options, partsOf(message), copies, signal),
    sendHalf: (message) => sendHalf(options, partsOf(message), signal),
    async reconnect() {
      await sender.close();
      sender = openSender(options);
    },
    close: () => sender.close(),
  };
}

const openSender = ({ timeoutMs }: RequestOptions) =>
  createPost({ ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true, timeoutMs });

function signedParts(
  message: DeliveryMessage,
  { epoch, ageMs = 0, proofText, secrets, alter }: How & { readonly secrets: Secrets },
): Parts {
  const body = bodyOf(message, proofText);
  const { id, sequence } = message;
  const parts = { headers: headersOf({ id, body, secrets, sequence, epoch }, Date.now() - ageMs), body };
  return alter ? alter(parts) : parts;
}
