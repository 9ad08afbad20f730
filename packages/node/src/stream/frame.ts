/** The text of server-sent events (HTML standard, "Server-sent events"). */
import { isChainFact, isRetraction } from "../events/catalogue.ts";
import type { Event, LoggedEvent } from "../events/event.ts";
import { SLOW_STEPS } from "../subscriptions/conditions/cost.ts";
import type { Fit } from "../subscriptions/content.ts";
import { type Position, positionText } from "./position.ts";

/** Milliseconds that a client waits before it reconnects. */
const RETRY_MS = 2_000;

/** The first frame of a stream: a client that is disconnected before the first event knows its position. */
export const greeting = (position: Position | undefined): string =>
  `retry: ${RETRY_MS}\n${heartbeat(position)}`;

/** Frame without an event: clients store its position; without a position they keep theirs. */
export const heartbeat = (position: Position | undefined): string =>
  position ? `id: ${positionText(position)}\n\n` : ":\n\n";

/** A comment, sent once: explains why the stream lags; clients ignore it. */
export const slowedComment = `: the conditions take more than ${SLOW_STEPS} steps per event; this stream is deprioritised\n\n`;

/** The last event of a stream whose conditions cost too much. It has no id, so that the client keeps its position. */
export const suspendedFrame = ({ message }: Error): string =>
  `event: stream.suspended\ndata: ${JSON.stringify({ event: "stream.suspended", code: "STREAM_SUSPENDED", message })}\n\n`;

/**
 * @param name name of the event in the subscription
 * @param fit replaces contents that are too large
 */
export function eventFrame(event: Event | LoggedEvent, name: string, fit: Fit): string {
  const { id, height, blockId, reverts, data } = event;
  const isFact = isChainFact(event.name) && !isRetraction(event.name) && reverts === undefined;
  const position: Position = {
    ...("sequence" in event && { sequence: event.sequence }),
    ...(isFact && height !== undefined && blockId !== undefined && { block: { height, blockId } }),
  };
  const { dataText, ...rest } = fit(event.name, data === undefined ? undefined : JSON.stringify(data));
  const envelope = JSON.stringify({ event: name, id, height, blockId, reverts, ...rest });
  const content = dataText === undefined ? envelope : `${envelope.slice(0, -1)},"data":${dataText}}`;
  return `id: ${positionText(position)}\nevent: ${name}\ndata: ${content}\n\n`;
}
