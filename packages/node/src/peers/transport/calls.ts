/** Calls between nodes: who calls, what handles a call, how a call fails, and the calls of a connection that wait for their replies. */
import { CodedError } from "../../platform/coded-error.ts";
import type { Call } from "../wire/client-messages.ts";
import type { EventName, ResultOf } from "../wire/events.ts";
import { CLIENT_MESSAGE_BYTES, CLIENT_MESSAGE_VALUES } from "../wire/limits.ts";
import type { ServerMessage } from "../wire/server-messages.ts";
import type { WebSocket } from "./web-socket.ts";

export type Caller = {
  /** Normalized: see `normalizeAddress`. */
  readonly address: string;
  /** True if the address matches `remoteAccess`. */
  readonly isTrusted: boolean;
};

/**
 * Handles a call and settles with its result; implemented by `createRequestHandler` of `requests/server.ts`.
 *
 * @throws {ReplyError} with the message of the reply; for other errors, the reply contains the text
 */
export type RequestHandler = (call: Call, caller: Caller) => Promise<ResultOf<EventName>>;

/** Error reply to a call; its message is part of the protocol (p2p.md 3.3). */
export class ReplyError extends CodedError<"CALL_REFUSED"> {
  constructor(message: string) {
    super("CALL_REFUSED", message, { isRetryable: false });
  }
}

export type PeerErrorCode =
  /** No connection or no handshake in time. */
  | "PEER_UNREACHABLE"
  /** The connection ended before the reply. */
  | "PEER_GONE"
  /** No reply in time. */
  | "PEER_TIMEOUT"
  /** The peer replied with an error. */
  | "PEER_REFUSED"
  /** Too many requests for that address wait for its rate limit: nothing was sent, and the peer is not at fault. */
  | "PEER_BUSY"
  /** The peer broke the protocol. */
  | "PEER_PROTOCOL";

export class PeerError extends CodedError<PeerErrorCode> {
  constructor(code: PeerErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, { isRetryable: code !== "PEER_PROTOCOL", ...options });
  }
}

export type CallLimits = {
  readonly timeoutMs: number;
  /** Maximum length of the reply. */
  readonly maxBytes: number;
};

type SentLimits = CallLimits & {
  /** Maximum number of values in the reply; that of a small reply if absent. */
  readonly maxValues?: number;
};

type Reply = Extract<ServerMessage, { readonly kind: "reply" | "failure" }>;

type Pending = {
  readonly settle: (message: Reply) => void;
  readonly fail: (error: PeerError) => void;
  readonly maxBytes: number;
  readonly maxValues: number;
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
  send(callId: number, text: string, limits: SentLimits): Promise<unknown> {
    const { timeoutMs, maxBytes, maxValues = CLIENT_MESSAGE_VALUES.other } = limits;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(callId);
        reject(new PeerError("PEER_TIMEOUT", `${this.#address} did not reply within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#pending.set(callId, {
        maxBytes,
        maxValues,
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

  /** Maximum number of values in the messages that the pending calls allow. */
  maxValues(): number {
    const limits = Array.from(this.#pending.values(), (call) => call.maxValues);
    return Math.max(CLIENT_MESSAGE_VALUES.other, ...limits);
  }
}
