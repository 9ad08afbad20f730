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

/**
 * A sign of life with the position; without a position clients keep theirs. It is a named event with data: some clients forget
 * an id without data, or pass a block without data on as an empty message.
 */
export const heartbeat = (position: Position | undefined): string =>
  `${position ? `id: ${positionText(position)}\n` : ""}event: stream.position\ndata: {"event":"stream.position"}\n\n`;

/** A comment, sent once before an event: explains why the stream lags; clients ignore it. */
export const slowedComment = `: the conditions take more than ${SLOW_STEPS} steps per event; this stream is deprioritised\n`;

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
