/** Calls between nodes: who calls, what handles a call, and how a call fails. */
import { CodedError } from "../../platform/coded-error.ts";
import type { Call } from "../wire/client-messages.ts";
import type { EventName, ResultOf } from "../wire/events.ts";

export type Caller = {
  /** Normalized: see `normalizeAddress`. */
  readonly address: string;
  /** True if the address matches `remoteAccess`. */
  readonly isTrusted: boolean;
};

/**
 * Handles a call and settles with its result.
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
