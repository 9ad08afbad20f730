/** Errors of requests to peers. */
import { CodedError } from "../../platform/coded-error.ts";

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
