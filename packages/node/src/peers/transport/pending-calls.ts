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

export type PendingCalls = {
  /**
   * Sends the text of a call. Settles with the data of its reply, not validated yet.
   *
   * @throws {PeerError} PEER_TIMEOUT, PEER_REFUSED, PEER_GONE, or the error of `failAll`
   */
  send(callId: number, text: string, limits: CallLimits): Promise<unknown>;
  /** Settles the call that a message replies to, if it still waits. */
  settle(message: Reply): void;
  failAll(error: PeerError): void;
  /** Maximum length of the messages that the pending calls allow. */
  maxBytes(): number;
};

type Reply = Extract<ServerMessage, { readonly kind: "reply" | "failure" }>;

type Pending = {
  readonly settle: (message: Reply) => void;
  readonly fail: (error: PeerError) => void;
  readonly maxBytes: number;
};

/** @param address appears in errors */
export function createPendingCalls(address: string, socket: WebSocket): PendingCalls {
  const pending = new Map<number, Pending>();

  return {
    send: (callId, text, limits) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          pending.delete(callId);
          reject(new PeerError("PEER_TIMEOUT", `${address} did not reply within ${limits.timeoutMs} ms`));
        }, limits.timeoutMs);
        pending.set(callId, {
          maxBytes: limits.maxBytes,
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
        socket.send(text, (error) => {
          if (error) pending.get(callId)?.fail(new PeerError("PEER_GONE", error.message));
        });
      }),
    settle(message) {
      pending.get(message.callId)?.settle(message);
      pending.delete(message.callId);
    },
    failAll(error) {
      for (const { fail } of pending.values()) fail(error);
      pending.clear();
    },
    maxBytes: () =>
      Math.max(CLIENT_MESSAGE_BYTES.other, ...[...pending.values()].map((call) => call.maxBytes)),
  };
}
