/** Reads the messages of a server (p2p.md 3.2 to 4.3, 16). */
import { decodeValue } from "../codec.ts";
import { WireError } from "../error.ts";
import { parseGradually } from "../gradual-json.ts";
import { guardJson } from "../json-guard.ts";
import { REPLY_COMPLEXITY } from "../limits.ts";
import { isRecord, type UntrustedRecord } from "../record.ts";
import { DISCONNECT } from "../requests/write.ts";
import { PING } from "./write.ts";

export type ServerMessage =
  | { readonly kind: "ping" }
  /** `data` is read by `readHandshakeReply` or `readReply`, depending on the request. */
  | { readonly kind: "reply"; readonly callId: number; readonly data: unknown }
  /** `name` is `Error` for errors of the handler. */
  | { readonly kind: "failure"; readonly callId: number; readonly name: string; readonly message: string }
  | { readonly kind: "disconnect"; readonly closeCode: number | undefined }
  /** Other events, which have no effect. */
  | { readonly kind: "event"; readonly event: string };

/** @throws {WireError} MESSAGE_JSON, MESSAGE_COMPLEXITY, MESSAGE_FORM */
export function readServerMessage(text: string): ServerMessage {
  if (text === PING) return { kind: "ping" };
  guardJson(text, { ...REPLY_COMPLEXITY, isStrict: false });
  return toServerMessage(decodeValue(text));
}

/** Longer messages are read in steps. */
const MAX_SHORT = 64 * 1024;

/**
 * Reads a message like `readServerMessage`, in steps if it is long.
 *
 * @throws {WireError} as `readServerMessage`
 */
export function* readServerMessageGradually(text: string): Generator<void, ServerMessage> {
  if (text.length <= MAX_SHORT) return readServerMessage(text);
  return toServerMessage(yield* parseGradually(text, { ...REPLY_COMPLEXITY, isStrict: false }));
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
