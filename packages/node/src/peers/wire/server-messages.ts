/** The messages of a server: how it writes them, and how a client reads them (p2p.md 3.2 to 4.3, 16). */
import { DISCONNECT, type ReplyHeaders } from "./client-messages.ts";
import {
  decodeValue,
  encodeValue,
  guardJson,
  isRecord,
  type JsonRules,
  type UntrustedRecord,
} from "./codec.ts";
import type { ArgumentOf, EventName, ResultOf } from "./events.ts";
import { parseGradually } from "./gradual-json.ts";
import { CLIENT_MESSAGE_VALUES, MAX_REPLY_DEPTH, TIMES_MS } from "./limits.ts";
import { WireError } from "./wire-error.ts";

/** Sent every `TIMES_MS.pingInterval`; the client responds with a pong. */
export const PING = "#1";

/** Sent before the reply to a handshake with a token: no token is valid, since the node issues none. */
export const REMOVE_TOKEN = encodeValue({ event: "#removeAuthToken", data: null });
const WRONG_TOKEN = { message: "jwt malformed", name: "AuthTokenInvalidError" };

/** @param id of the connection: any text, 20 characters of URL-safe base64 by custom */
export const writeHandshakeReply = (callId: number, id: string, hasToken: boolean): string =>
  encodeValue({
    rid: callId,
    data: {
      id,
      pingTimeout: TIMES_MS.pingTimeout,
      ...(hasToken && { authError: WRONG_TOKEN }),
      isAuthenticated: false,
    },
  });

/** The headers are required: a client drops a peer that sends none. */
export const writeReply = <E extends EventName>(
  callId: number,
  _event: E,
  result: ResultOf<E>,
  { version, height }: ReplyHeaders,
): string => encodeValue({ rid: callId, data: { data: result, headers: { version, height } } });

/** Returns the text of the message, with steps between the blocks of a long reply. */
export function* writeReplyGradually<E extends EventName>(
  callId: number,
  event: E,
  result: ResultOf<E>,
  headers: ReplyHeaders,
): Generator<void, string> {
  if (event !== "p2p.peer.getBlocks" || !Array.isArray(result)) {
    return writeReply(callId, event, result, headers);
  }
  const blocks: string[] = [];
  for (const block of result) {
    blocks.push(encodeValue(block));
    yield;
  }
  const { version, height } = headers;
  return `{"rid":${callId},"data":{"data":[${blocks.join(",")}],"headers":${encodeValue({ version, height })}}}`;
}

export const writeFailure = (callId: number, message: string): string =>
  encodeValue({ rid: callId, error: { message } });

/** Error message while the node is not ready (p2p.md 3.3). */
export const NOT_READY = "App is not ready.";

/** Error message for everything without a message of its own. */
export const unexpectedFailure = (event: EventName, text: string): string =>
  `${event} responded with ${text}`;

export const noCommonBlocks = (): string =>
  unexpectedFailure("p2p.peer.getCommonBlocks", "Couldn't find any common blocks.");

export const blockNotChained = (height: number, lastDownloadedHeight: number): string =>
  `Last received block ${height} cannot be chained to ${lastDownloadedHeight}.`;

export const tooManyTransactions = (block: {
  id: string;
  height: number;
  numberOfTransactions: number;
}): string =>
  `Received block ${block.id} at height ${block.height} contained too many transactions (${block.numberOfTransactions}).`;

export type ServerMessage =
  | { readonly kind: "ping" }
  /** `data` is read by `readHandshakeReply` or `readReply`, depending on the request. */
  | { readonly kind: "reply"; readonly callId: number; readonly data: unknown }
  /** `name` is `Error` for errors of the handler. */
  | { readonly kind: "failure"; readonly callId: number; readonly name: string; readonly message: string }
  | { readonly kind: "disconnect"; readonly closeCode: number | undefined }
  /** Other events, which have no effect. */
  | { readonly kind: "event"; readonly event: string };

/** Returns the maximum number of values in the reply to a call. */
export const maxReplyValues = <E extends EventName>(event: E, argument: ArgumentOf<E>): number =>
  event === "uniknode.peer.getGenesis" ||
  (event === "p2p.peer.getBlocks" && !("headersOnly" in argument && argument.headersOnly))
    ? CLIENT_MESSAGE_VALUES.blocks
    : CLIENT_MESSAGE_VALUES.other;

const rulesOf = (maxValues: number): JsonRules => ({
  maxDepth: MAX_REPLY_DEPTH,
  maxValues,
  isStrict: false,
});

/** @throws {WireError} MESSAGE_JSON, MESSAGE_COMPLEXITY, MESSAGE_FORM */
export function readServerMessage(
  text: string,
  maxValues: number = CLIENT_MESSAGE_VALUES.other,
): ServerMessage {
  if (text === PING) return { kind: "ping" };
  guardJson(text, rulesOf(maxValues));
  return toServerMessage(decodeValue(text));
}

/** Longer messages are read in steps. */
const MAX_SHORT = 64 * 1024;

/**
 * Reads a message like `readServerMessage`, in steps if it is long.
 *
 * @throws {WireError} as `readServerMessage`
 */
export function* readServerMessageGradually(text: string, maxValues: number): Generator<void, ServerMessage> {
  if (text.length <= MAX_SHORT) return readServerMessage(text, maxValues);
  return toServerMessage(yield* parseGradually(text, rulesOf(maxValues)));
}

function toServerMessage(message: unknown): ServerMessage {
  if (typeof message === "string") throw new WireError("MESSAGE_JSON", "a message is not JSON");
  if (!isRecord(message)) throw new WireError("MESSAGE_FORM", "a message is not an object");
  const { rid: callId, error, data, event } = message;
  if (typeof callId === "number") {
    return error ? toFailure(callId, error) : { kind: "reply", callId, data };
  }
  if (typeof event !== "string")
    throw new WireError("MESSAGE_FORM", "a message is neither a reply nor an event");
  return event === DISCONNECT
    ? { kind: "disconnect", closeCode: readCloseCode(data) }
    : { kind: "event", event };
}

function toFailure(callId: number, error: unknown): ServerMessage {
  const { name, message } = isRecord(error) ? error : { message: error };
  return {
    kind: "failure",
    callId,
    name: typeof name === "string" ? name : "Error",
    message: typeof message === "string" ? message : "",
  };
}

const readCloseCode = (data: unknown): number | undefined =>
  isRecord(data) && typeof data.code === "number" ? data.code : undefined;

/** Node.js fires timers of more milliseconds at once. */
const MAX_TIMER_MS = 0x7fff_ffff;

/**
 * Returns the milliseconds without a ping after which the client disconnects.
 *
 * @throws {WireError} REPLY_FORM
 */
export function readHandshakeReply(data: unknown): { pingTimeoutMs: number } {
  const pingTimeoutMs = isRecord(data) ? data.pingTimeout : undefined;
  if (typeof pingTimeoutMs !== "number" || !(pingTimeoutMs > 0 && pingTimeoutMs <= MAX_TIMER_MS)) {
    throw new WireError("REPLY_FORM", "a handshake has no ping timeout");
  }
  return { pingTimeoutMs };
}

/**
 * Returns the result, which `readResult` validates, and the height in the headers.
 *
 * @throws {WireError} REPLY_HEADERS
 */
export function readReply(data: unknown): { result: unknown; height: number | undefined } {
  const { data: result, headers }: UntrustedRecord = isRecord(data) ? data : {};
  if (!isRecord(headers)) throw new WireError("REPLY_HEADERS", "a reply has no headers");
  const { height } = headers;
  return { result, height: Number.isSafeInteger(height) ? (height as number) : undefined };
}
