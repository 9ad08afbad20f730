/** What is wrong with something that came over a connection, and what follows from it. */

export type WireErrorCode =
  /** Not the frames of a WebSocket without extensions, or a message above the limit of the receiver (p2p.md 2.3). */
  | "FRAME_INVALID"
  /** A WebSocket ping or pong: keep-alive is text here (p2p.md 4.2). */
  | "FRAME_CONTROL"
  /** Binary data: only text carries messages. */
  | "FRAME_BINARY"
  /** Shorter than any message there is (p2p.md 6.2 point 4). */
  | "MESSAGE_TOO_SHORT"
  /** No JSON, or not by the stricter rules (p2p.md 6.2 point 5). */
  | "MESSAGE_JSON"
  /** Nested deeper or holding more values than any message needs. */
  | "MESSAGE_COMPLEXITY"
  /** Members that no message has, or of another kind (p2p.md 3.2). */
  | "MESSAGE_FORM"
  /** A name that is none of the events (p2p.md 5). */
  | "EVENT_UNKNOWN"
  /** An event for trusted addresses only (p2p.md 6.3 point 6). */
  | "EVENT_FORBIDDEN"
  /** Headers other than the tolerated ones (p2p.md 3.4). */
  | "HEADERS_FORM"
  /** The argument has another shape than its event's (p2p.md 7). */
  | "ARGUMENT_FORM"
  /** Something else than the handshake came first (p2p.md 4.1). */
  | "HANDSHAKE_MISSING"
  /** The handshake came twice. */
  | "HANDSHAKE_REPEATED"
  /** A pong within a second of the last one (p2p.md 4.2). */
  | "PONG_REPEATED"
  /** A message behind the announcement of the end (p2p.md 4.3). */
  | "MESSAGE_AFTER_END"
  /** More events than an address may send (p2p.md 6.3). */
  | "RATE_EXCEEDED"
  /** More messages than a server may send at a time (p2p.md 12.3). */
  | "REPLIES_EXCEEDED"
  /** A successful reply without headers (p2p.md 3.4). */
  | "REPLY_HEADERS"
  /** The result of a reply is not what its event returns (p2p.md 7). */
  | "REPLY_FORM";

/** The sender broke the protocol; the same bytes are never worth another try. */
export class WireError extends Error {
  readonly code: WireErrorCode;
  readonly isRetryable = false;

  constructor(code: WireErrorCode, message: string) {
    super(message);
    this.name = "WireError";
    this.code = code;
  }
}

/**
 * What a server does: `offence` destroys the connection without a close frame and refuses its address for a while
 * (p2p.md 6.1), `close` ends it with a close code.
 */
export type ServerReaction =
  | { readonly kind: "offence" }
  | { readonly kind: "close"; readonly closeCode: number };

export const serverReaction = ({ code }: WireError): ServerReaction =>
  code === "HANDSHAKE_MISSING"
    ? { kind: "close", closeCode: CLOSE_CODES.beforeHandshake }
    : { kind: "offence" };

/**
 * What a client does (p2p.md 16): `fail` fails the one request and keeps the peer, `drop` ends the connection and
 * forgets the peer.
 */
export const clientReaction = ({ code }: WireError): "fail" | "drop" =>
  code === "REPLY_FORM" ? "fail" : "drop";

/** Codes of close frames (p2p.md 4.3). */
export const CLOSE_CODES = {
  normal: 1000,
  messageTooLarge: 1009,
  /** The client saw no ping for the server's `pingTimeout`. */
  noPing: 4000,
  /** The server received nothing for its `pingTimeout`. */
  noPong: 4001,
  handshakeFailed: 4003,
  /** The client could not connect in time. */
  connectTimeout: 4007,
  beforeHandshake: 4009,
} as const;
