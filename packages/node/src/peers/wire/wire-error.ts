/** Violations of the wire protocol, and how server and client react to them. */
import { CodedError } from "../../platform/coded-error.ts";

export type WireErrorCode =
  /**
   * The frames are not a WebSocket without extensions, or the message exceeds the limit of the receiver
   * (p2p.md 2.3).
   */
  | "FRAME_INVALID"
  /** A WebSocket ping or pong: keep-alive messages are text (p2p.md 4.2). */
  | "FRAME_CONTROL"
  /** Binary data: only text carries messages. */
  | "FRAME_BINARY"
  /** Shorter than any valid message (p2p.md 6.2 point 4). */
  | "MESSAGE_TOO_SHORT"
  /** Invalid JSON, or JSON that violates the stricter rules (p2p.md 6.2 point 5). */
  | "MESSAGE_JSON"
  /** Nested deeper or with more values than any valid message. */
  | "MESSAGE_COMPLEXITY"
  /** Unknown members, or members of a wrong type (p2p.md 3.2). */
  | "MESSAGE_FORM"
  /** Unknown event name (p2p.md 5). */
  | "EVENT_UNKNOWN"
  /** An event for trusted addresses only (p2p.md 6.3 point 6). */
  | "EVENT_FORBIDDEN"
  /** Headers other than the tolerated ones (p2p.md 3.4). */
  | "HEADERS_FORM"
  /** The argument does not match the schema of its event (p2p.md 7). */
  | "ARGUMENT_FORM"
  /** The first message is not the handshake (p2p.md 4.1). */
  | "HANDSHAKE_MISSING"
  /** A second handshake. */
  | "HANDSHAKE_REPEATED"
  /** A pong within a second of the previous one, and no ping waits for one (p2p.md 4.2). */
  | "PONG_REPEATED"
  /** A message after the announced end (p2p.md 4.3). */
  | "MESSAGE_AFTER_END"
  /** More events than an address may send (p2p.md 6.3). */
  | "RATE_EXCEEDED"
  /** More messages than a server may send at a time (p2p.md 12.3). */
  | "REPLIES_EXCEEDED"
  /** A successful reply without headers (p2p.md 3.4). */
  | "REPLY_HEADERS"
  /** The result of a reply does not match the schema of its event (p2p.md 7). */
  | "REPLY_FORM";

/** The sender broke the protocol; the same bytes fail again. */
export class WireError extends CodedError<WireErrorCode> {
  constructor(code: WireErrorCode, message: string) {
    super(code, message, { isRetryable: false });
  }
}

/**
 * Reaction of a server: `offence` destroys the connection without a close frame and refuses its address for a while
 * (p2p.md 6.1), `close` ends it with a close code.
 */
type ServerReaction = { readonly kind: "offence" } | { readonly kind: "close"; readonly closeCode: number };

export const serverReaction = ({ code }: WireError): ServerReaction =>
  code === "HANDSHAKE_MISSING"
    ? { kind: "close", closeCode: CLOSE_CODES.beforeHandshake }
    : { kind: "offence" };

/**
 * Reaction of a client (p2p.md 16): `fail` fails the request and keeps the peer, `drop` ends the connection and
 * drops the peer.
 */
export const clientReaction = ({ code }: WireError): "fail" | "drop" =>
  code === "REPLY_FORM" ? "fail" : "drop";

/** Codes of close frames (p2p.md 4.3). */
export const CLOSE_CODES = {
  normal: 1000,
  messageTooLarge: 1009,
  /** The client received no ping for the server's `pingTimeout`. */
  noPing: 4000,
  /** The server received nothing for its `pingTimeout`. */
  noPong: 4001,
  handshakeFailed: 4003,
  /** The client could not connect in time. */
  connectTimeout: 4007,
  beforeHandshake: 4009,
} as const;
