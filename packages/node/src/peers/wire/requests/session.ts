/** The order in which a client may send messages on a connection (p2p.md 4, 6.2). */
import { WireError } from "../error.ts";
import { TIMES_MS } from "../limits.ts";
import type { ClientMessage } from "./read.ts";

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
