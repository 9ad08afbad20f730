/** The text of server-sent events (HTML standard, "Server-sent events"), and the positions that are their ids. */
import { isChainFact, isRetraction } from "../events/catalogue.ts";
import type { Event, LoggedEvent } from "../events/event.ts";
import { SLOW_STEPS } from "../subscriptions/conditions/cost.ts";
import type { Fit } from "../subscriptions/content.ts";

export type BlockRef = { readonly height: number; readonly blockId: string };

/**
 * Position of a client: the id of an event in a stream, which `Last-Event-ID` sends back.
 *
 * `4711.1200.13856390865034637215` is sequence 4711 of the event log, about the block 13856390865034637215 at height 1200. Without a
 * sequence, the event was derived from a stored block; without a block, it is not a fact of the chain.
 */
export type Position = {
  /** Last event of the log that was sent. */
  readonly sequence?: number;
  /** All events before this block were sent. */
  readonly block?: BlockRef;
};

export const positionText = ({ sequence, block }: Position): string =>
  `${sequence ?? ""}${block ? `.${block.height}.${block.blockId}` : ""}`;

const TEXT = /^(\d{1,15})?(?:\.(\d{1,10})\.(\d{1,20}|[0-9a-f]{64}))?$/;

/** Parses a position; undefined if the text is not a position. */
export function readPosition(text: string): Position | undefined {
  const [whole, sequence, height, blockId] = TEXT.exec(text) ?? [];
  if (!whole) return undefined;
  return {
    ...(sequence !== undefined && { sequence: Number(sequence) }),
    ...(height !== undefined && blockId !== undefined && { block: { height: Number(height), blockId } }),
  };
}

/** Milliseconds that a client waits before it reconnects. */
const RETRY_MS = 2_000;

/** Returns the first frame of a stream: a client that is disconnected before the first event knows its position. */
export const greeting = (position: Position | undefined): string =>
  `retry: ${RETRY_MS}\n${heartbeat(position)}`;

/**
 * Returns a sign of life with the position; without a position clients keep theirs. It is a named event with data: some clients forget
 * an id without data, or pass a block without data on as an empty message.
 */
export const heartbeat = (position: Position | undefined): string =>
  `${position ? `id: ${positionText(position)}\n` : ""}event: stream.position\ndata: {"event":"stream.position"}\n\n`;

/** A comment, sent once before an event: explains why the stream lags; clients ignore it. */
export const slowedComment = `: the conditions take more than ${SLOW_STEPS} steps per event; this stream is deprioritised\n`;

/** Returns the last event of a stream whose conditions cost too much. It has no id, so that the client keeps its position. */
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
