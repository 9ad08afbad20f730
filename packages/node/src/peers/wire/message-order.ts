/** Messages that a client may send on a connection: their order and their length (p2p.md 4 and 6.2). */
import type { ClientMessage } from "./client-messages.ts";
import type { EventName } from "./events.ts";
import { MAX_OPENING_BYTES, MAX_SMALL_BYTES, TIMES_MS } from "./limits.ts";
import { WireError } from "./wire-error.ts";

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
