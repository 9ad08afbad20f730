/** The text of server-sent events (HTML standard, "Server-sent events"). */
import { isChainFact, isReversal } from "../events/catalogue.ts";
import type { Event, LoggedEvent } from "../events/event.ts";
import { isTooLarge, thinned } from "../events/thin.ts";
import { type Position, positionText } from "./position.ts";

/** Milliseconds that a reader is to wait before it comes back. */
const RETRY_MS = 2_000;

/** The first thing that is sent: a reader that is cut off before the first event knows where it was all the same. */
export const greeting = (position: Position | undefined): string =>
  `retry: ${RETRY_MS}\n${heartbeat(position)}`;

/** Readers see nothing of it, but remember the position; without one they keep theirs. */
export const heartbeat = (position: Position | undefined): string =>
  position ? `id: ${positionText(position)}\n\n` : ":\n\n";

/** `name` is how the reader calls it. */
export function eventFrame(event: Event | LoggedEvent, name: string): string {
  const { id, height, blockId, reverts, data } = event;
  const isFact = isChainFact(event.name) && !isReversal(event.name) && reverts === undefined;
  const position: Position = {
    ...("sequence" in event && { sequence: event.sequence }),
    ...(isFact && height !== undefined && blockId !== undefined && { place: { height, blockId } }),
  };
  const envelope = { event: name, id, height, blockId, reverts };
  const whole = JSON.stringify({ ...envelope, data });
  const content = isTooLarge(whole)
    ? JSON.stringify({ ...envelope, thin: true, data: thinned(event.name, data) })
    : whole;
  return `id: ${positionText(position)}\nevent: ${name}\ndata: ${content}\n\n`;
}
