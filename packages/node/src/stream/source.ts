/**
 * Source of a stream's events: the event log, or the stored blocks for clients that reconnect too late for the log.
 * Their text are server-sent events (HTML standard, "Server-sent events"), whose ids are positions.
 */
import { type Event, isChainFact, isRetraction, type LoggedEvent } from "../events/catalogue.ts";
import { SLOW_STEPS } from "../subscriptions/conditions/cost.ts";
import { createFit, type Fit, MAX_CONTENT_BYTES } from "../subscriptions/content.ts";

export type BlockRef = { readonly height: number; readonly blockId: string };

/**
 * Position of a client: the id of an event in a stream, which `Last-Event-ID` sends back.
 *
 * `4711-5d0c93ab.1200.13856390865034637215` is sequence 4711 of the event log 5d0c93ab, about the block 13856390865034637215 at height
 * 1200. Without a sequence, the event was derived from a stored block; without a block, it is not a fact of the chain. Positions of
 * earlier versions do not name their log.
 */
export type Position = {
  /** Last event of the log that was sent. */
  readonly sequence?: number;
  /** See `Source.logId`. */
  readonly logId?: string | undefined;
  /** All events before this block were sent. */
  readonly block?: BlockRef;
};

export const positionText = ({ sequence, logId, block }: Position): string =>
  `${sequence ?? ""}${logId ? `-${logId}` : ""}${block ? `.${block.height}.${block.blockId}` : ""}`;

const TEXT = /^(?:(\d{1,15})(?:-([0-9a-f]{8}))?)?(?:\.(\d{1,10})\.(\d{1,20}|[0-9a-f]{64}))?$/;

/** Parses a position; undefined if the text is not a position. */
export function readPosition(text: string): Position | undefined {
  const [whole, sequence, logId, height, blockId] = TEXT.exec(text) ?? [];
  if (!whole) return undefined;
  return {
    ...(sequence !== undefined && { sequence: Number(sequence), logId }),
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

/** Returns the block of which the event is a fact; undefined for retractions, and for events that are not facts of the chain. */
function factBlock({ name, height, blockId, reverts }: Event): BlockRef | undefined {
  const isFact = isChainFact(name) && !isRetraction(name) && reverts === undefined;
  return isFact && height !== undefined && blockId !== undefined ? { height, blockId } : undefined;
}

/**
 * @param name name of the event in the subscription
 * @param fit replaces contents that are too large
 * @param logId see `Source.logId`
 */
function eventFrame(event: Event | LoggedEvent, name: string, fit: Fit, logId: string | undefined): string {
  const { id, height, blockId, reverts, data } = event;
  const block = factBlock(event);
  const position: Position = {
    ...("sequence" in event && { sequence: event.sequence, logId }),
    ...(block && { block }),
  };
  const { dataText, ...rest } = fit(event.name, data === undefined ? undefined : JSON.stringify(data));
  const envelope = JSON.stringify({ event: name, id, height, blockId, reverts, ...rest });
  const content = dataText === undefined ? envelope : `${envelope.slice(0, -1)},"data":${dataText}}`;
  return `id: ${positionText(position)}\nevent: ${name}\ndata: ${content}\n\n`;
}

/** An event and its text, which is built once for all clients that receive it by the same name. */
export type SourceEvent = { readonly event: Event; frame(name: string): string };

export type LogPage = {
  readonly events: readonly (SourceEvent & { readonly event: LoggedEvent })[];
  /** Sequence of the last event of the page, or the start of the page if it is empty. */
  readonly sequence: number;
  /** True if this page reaches the end of the log. */
  readonly isEnd: boolean;
  /** The head when the page was read. */
  readonly block?: BlockRef;
};

/** End of the log, and the head of the same state. */
export type LogEnd = Position & { readonly sequence: number };

export type BlockPage = { readonly events: readonly SourceEvent[]; readonly block: BlockRef };

/** Each read sees one state of the database, at least as new as that of the read before it. */
export type Source = {
  /** Random id of the event log, 8 hexadecimal digits: sequences of another log count other events. */
  readonly logId?: string | undefined;
  end(): Promise<LogEnd>;
  /** Returns the sequence after which the log has every event that was ever written. */
  begin(): Promise<number>;
  hasBlock(block: BlockRef): Promise<boolean>;
  /** Returns the events after a sequence; undefined if some of these events were dropped. */
  log(after: number): Promise<LogPage | undefined>;
  /** Returns the events of a block; undefined above the head. */
  chain(height: number): Promise<BlockPage | undefined>;
  /** Must be called after events were recorded. */
  refresh(): void;
};

/**
 * Creates a function that adds the text to an event.
 *
 * @param logId see `Source.logId`
 */
export function createSourceEvents(
  logId?: string,
): <E extends Event>(event: E) => SourceEvent & { readonly event: E } {
  const fit = createFit(MAX_CONTENT_BYTES);
  return (event) => {
    const frames = new Map<string, string>();
    return {
      event,
      frame(name) {
        const text = frames.get(name) ?? eventFrame(event, name, fit, logId);
        frames.set(name, text);
        return text;
      },
    };
  };
}
