/** The messages of a client: how it writes them, and in which order, length and form a server reads them (p2p.md 3.2 to 4 and 6.2). */
import { shortened, withoutControls } from "../../platform/text/foreign.ts";
import { decodeValue, encodeValue, guardJson, hasOnly, isRecord, type UntrustedRecord } from "./codec.ts";
import { type ArgumentOf, argumentViolation, type EventName, isArgumentOf, isEventName } from "./events.ts";
import { parseGradually } from "./gradual-json.ts";
import { MAX_OPENING_BYTES, MAX_SMALL_BYTES, REQUEST_COMPLEXITY, TIMES_MS } from "./limits.ts";
import { WireError } from "./wire-error.ts";

/** Headers of a reply: the announced version, and the height of the head if there is one. */
export type ReplyHeaders = { version: string; height?: number };

/** Headers of every request. */
const REQUEST_HEADERS = { "Content-Type": "application/json" } as const;

const KINDS: Readonly<Record<string, "string" | "number">> = {
  version: "string",
  port: "number",
  height: "number",
  "Content-Type": "string",
};

/** Returns true if headers of a request are tolerated; a falsy value may be of any type. */
const areTolerated = (headers: unknown): boolean =>
  isRecord(headers) &&
  Object.entries(headers).every(
    ([name, value]) => Object.hasOwn(KINDS, name) && (!value || typeof value === KINDS[name]),
  );

/** Reply to a server's ping. */
export const PONG = "#2";
const HANDSHAKE = "#handshake";
export const DISCONNECT = "#disconnect";

/** Call id of the handshake, the first call of a connection; later calls increment it. */
export const HANDSHAKE_CALL_ID = 1;

export const writeHandshake = (): string =>
  encodeValue({ event: HANDSHAKE, data: { authToken: null }, cid: HANDSHAKE_CALL_ID });

/** There is no reply without a call id. */
export const writeCall = <E extends EventName>(event: E, argument: ArgumentOf<E>, callId?: number): string =>
  encodeValue({ event, data: { data: argument, headers: REQUEST_HEADERS }, cid: callId });

/** Announces the end; only the close frame with the same code may follow. A server may send it too. */
export const writeDisconnect = (closeCode: number): string =>
  encodeValue({ event: DISCONNECT, data: { code: closeCode } });

/** An event with its argument. */
export type Call = {
  [E in EventName]: {
    readonly kind: "call";
    readonly event: E;
    readonly argument: ArgumentOf<E>;
    /** Number that the reply repeats; undefined if no reply is expected. */
    readonly callId: number | undefined;
  };
}[EventName];

export type ClientMessage =
  | { readonly kind: "pong" }
  /** `hasToken`: it has a token, which the node never issues. */
  | { readonly kind: "handshake"; readonly callId: number | undefined; readonly hasToken: boolean }
  | { readonly kind: "disconnect"; readonly closeCode: number }
  | Call;

/** Characters of an unknown event that an error quotes. */
const MAX_NAME = 60;
const MIN_LENGTH = 10;
/** Longer messages are read in steps. */
const MAX_SHORT = 64 * 1024;

/**
 * Reads a single message; the session checks the order of messages.
 *
 * @throws {WireError} MESSAGE_*, EVENT_UNKNOWN, HEADERS_FORM, ARGUMENT_FORM
 */
export function readClientMessage(text: string): ClientMessage {
  if (text === PONG) return { kind: "pong" };
  // Steps 4 and 5
  if (text.length < MIN_LENGTH) throw new WireError("MESSAGE_TOO_SHORT", "a message is too short");
  guardJson(text, { ...REQUEST_COMPLEXITY, isStrict: true });
  return toClientMessage(decodeValue(text));
}

/**
 * Reads a message like `readClientMessage`, in steps if it is long.
 *
 * @throws {WireError} as `readClientMessage`
 */
export function* readClientMessageGradually(text: string): Generator<void, ClientMessage> {
  if (text.length <= MAX_SHORT) return readClientMessage(text);
  return toClientMessage(yield* parseGradually(text, { ...REQUEST_COMPLEXITY, isStrict: true }));
}

function toClientMessage(message: unknown): ClientMessage {
  if (typeof message === "string") throw new WireError("MESSAGE_JSON", "a message is not JSON");
  if (!isRecord(message)) throw new WireError("MESSAGE_FORM", "a message is not an object");
  // Steps 6 to 8
  if (message.event === DISCONNECT) return { kind: "disconnect", closeCode: readCloseCode(message) };
  const callId = readCallId(message);
  if (message.event === HANDSHAKE) return { kind: "handshake", callId, hasToken: hasToken(message) };
  return readCall(message, callId);
}

/** Step 6: a code and no other member; no reply is expected. */
function readCloseCode(message: UntrustedRecord): number {
  const { data } = message;
  const isExact = hasOnly(message, "event", "data") && isRecord(data) && hasOnly(data, "code");
  if (!isExact || typeof data.code !== "number") {
    throw new WireError("MESSAGE_FORM", "#disconnect must have a numeric code and no other member");
  }
  return data.code;
}

/** Zero counts as absent. */
function readCallId({ cid }: UntrustedRecord): number | undefined {
  if (cid !== undefined && typeof cid !== "number")
    throw new WireError("MESSAGE_FORM", "cid is not a number");
  return cid || undefined;
}

const hasToken = ({ data }: UntrustedRecord): boolean => isRecord(data) && Boolean(data.authToken);

/** Step 8 */
function readCall(message: UntrustedRecord, callId: number | undefined): Call {
  const { event, data } = message;
  if (typeof event !== "string" || !hasOnly(message, "event", "data", "cid")) {
    throw new WireError(
      "MESSAGE_FORM",
      "a message must have an event and no other members than event, data and cid",
    );
  }
  if (!isEventName(event))
    throw new WireError(
      "EVENT_UNKNOWN",
      `the event ${shortened(withoutControls(event), MAX_NAME)} is unknown`,
    );
  if (!isRecord(data) || !isRecord(data.data) || !hasOnly(data, "data", "headers")) {
    throw new WireError(
      "MESSAGE_FORM",
      `the data of ${event} must have an object "data" and no other members than data and headers`,
    );
  }
  if (!areTolerated(data.headers)) {
    throw new WireError("HEADERS_FORM", `the headers of ${event} have an unknown member or a wrong type`);
  }
  if (!isArgumentOf(event, data.data)) {
    const violation = argumentViolation(event, data.data);
    throw new WireError("ARGUMENT_FORM", `the argument of ${event} is invalid: ${violation}`);
  }
  return { kind: "call", event, argument: data.data, callId } as Call;
}

export type Session = {
  readonly phase: "opened" | "ready" | "ending";
  /** Milliseconds of a monotonic clock. */
  readonly lastPongAt: number | undefined;
  /** Number of pings without a pong. A client that was suspended sends all these pongs at once. */
  readonly openPings: number;
};

export const NEW_SESSION: Session = { phase: "opened", lastPongAt: undefined, openPings: 0 };

/** Pings within the longest silence of a client. */
const MAX_OPEN_PINGS = Math.floor(TIMES_MS.pingTimeout / TIMES_MS.pingInterval);

/** The session after a ping to the client. */
export const pinged = (session: Session): Session => ({
  ...session,
  openPings: Math.min(session.openPings + 1, MAX_OPEN_PINGS),
});

/**
 * The session after a message that arrived `at` milliseconds of a monotonic clock.
 *
 * @throws {WireError} MESSAGE_AFTER_END, PONG_REPEATED, HANDSHAKE_REPEATED, HANDSHAKE_MISSING
 */
export function advance(session: Session, { kind }: ClientMessage, at: number): Session {
  const { phase, lastPongAt, openPings } = session;
  // Step 1
  if (phase === "ending") throw new WireError("MESSAGE_AFTER_END", "a message follows the announced end");
  // Step 3
  const isEarly = lastPongAt !== undefined && at - lastPongAt < TIMES_MS.betweenPongs;
  if (kind === "pong" && isEarly && openPings === 0) {
    throw new WireError("PONG_REPEATED", "two pongs arrived within a second");
  }
  // Step 7
  if (kind === "handshake") {
    if (phase === "ready") throw new WireError("HANDSHAKE_REPEATED", "a second handshake arrived");
    return { ...session, phase: "ready" };
  }
  if (phase === "opened") throw new WireError("HANDSHAKE_MISSING", "a message arrived before the handshake");
  if (kind === "disconnect") return { ...session, phase: "ending" };
  return kind === "pong" ? { ...session, lastPongAt: at, openPings: Math.max(0, openPings - 1) } : session;
}

/** Events that carry blocks, transactions or the content of an event of the forger. */
const LONG_EVENTS: readonly EventName[] = [
  "p2p.peer.postBlock",
  "p2p.peer.postTransactions",
  "p2p.internal.emitEvent",
];

/** The first characters of their messages: every client writes the event first. */
const LONG_BEGINNINGS = LONG_EVENTS.map((event) => `{"event":"${event}",`);
const BEGINNING_BYTES = Math.max(...LONG_BEGINNINGS.map(({ length }) => length));

/**
 * Checks the length of a message before its text is decoded.
 *
 * @param maxBytes returns the limit for every message
 * @throws {WireError} FRAME_INVALID
 */
export function checkLength(bytes: Buffer, { phase }: Session, maxBytes: () => number): void {
  if (phase === "opened") assertBelow(MAX_OPENING_BYTES, bytes, "before the handshake");
  if (bytes.length <= MAX_SMALL_BYTES) return;
  const beginning = bytes.toString("latin1", 0, BEGINNING_BYTES);
  if (!LONG_BEGINNINGS.some((expected) => beginning.startsWith(expected))) {
    assertBelow(MAX_SMALL_BYTES, bytes, "without a block or transactions");
  }
  assertBelow(maxBytes(), bytes, "of this height");
}

function assertBelow(limit: number, { length }: Buffer, kind: string): void {
  if (length > limit) {
    throw new WireError("FRAME_INVALID", `a message ${kind} has ${length} bytes, more than ${limit}`);
  }
}
