/** Calls of an outgoing connection that wait for their replies. */
import { CLIENT_MESSAGE_BYTES } from "../wire/limits.ts";
import type { ServerMessage } from "../wire/server-messages.ts";
import { PeerError } from "./calls.ts";
import type { WebSocket } from "./web-socket.ts";

export type CallLimits = {
  readonly timeoutMs: number;
  /** Maximum length of the reply. */
  readonly maxBytes: number;
};

type Reply = Extract<ServerMessage, { readonly kind: "reply" | "failure" }>;

type Pending = {
  readonly settle: (message: Reply) => void;
  readonly fail: (error: PeerError) => void;
  readonly maxBytes: number;
};

export class PendingCalls {
  readonly #address: string;
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, Pending>();

  /** @param address appears in errors */
  constructor(address: string, socket: WebSocket) {
    this.#address = address;
    this.#socket = socket;
  }

  /**
   * Sends the text of a call. Settles with the data of its reply, not validated yet.
   *
   * @throws {PeerError} PEER_TIMEOUT, PEER_REFUSED, PEER_GONE, or the error of `failAll`
   */
  send(callId: number, text: string, { timeoutMs, maxBytes }: CallLimits): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(callId);
        reject(new PeerError("PEER_TIMEOUT", `${this.#address} did not reply within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#pending.set(callId, {
        maxBytes,
        fail(error) {
          clearTimeout(timer);
          reject(error);
        },
        settle(message) {
          clearTimeout(timer);
          if (message.kind === "reply") resolve(message.data);
          else reject(new PeerError("PEER_REFUSED", message.message));
        },
      });
      this.#socket.send(text, (error) => {
        if (error) this.#pending.get(callId)?.fail(new PeerError("PEER_GONE", error.message));
      });
    });
  }

  /** Settles the call that a message replies to, if it still waits. */
  settle(message: Reply): void {
    this.#pending.get(message.callId)?.settle(message);
    this.#pending.delete(message.callId);
  }

  failAll(error: PeerError): void {
    for (const { fail } of this.#pending.values()) fail(error);
    this.#pending.clear();
  }

  /** Maximum length of the messages that the pending calls allow. */
  maxBytes(): number {
    const limits = Array.from(this.#pending.values(), (call) => call.maxBytes);
    return Math.max(CLIENT_MESSAGE_BYTES.other, ...limits);
  }
}
