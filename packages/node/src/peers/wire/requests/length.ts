/** The length that a message of a client may have, which is known before its text is decoded. */
import { WireError } from "../error.ts";
import { MAX_OPENING_BYTES, MAX_SMALL_BYTES } from "../limits.ts";
import type { EventName } from "./arguments.ts";
import type { Session } from "./session.ts";

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
 * Checks the bytes of a message.
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
