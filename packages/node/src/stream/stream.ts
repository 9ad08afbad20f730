/**
 * The live stream: every open connection reads the event log for itself, at its own pace, so that nobody waits for
 * anybody and nothing is kept in memory for a slow reader.
 */
import type { Writable } from "node:stream";
import { createBell } from "./bell.ts";
import { StreamError } from "./error.ts";
import { follow } from "./follow.ts";
import { greeting, heartbeat } from "./frame.ts";
import type { Position } from "./position.ts";
import { createSink, type Sink } from "./sink.ts";
import type { Source } from "./source.ts";
import { type Start, startOf, type Wish } from "./start.ts";
import { createWants, type StreamsChanged } from "./wants.ts";

export type StreamOptions = {
  readonly maxStreams: number;
  readonly maxStreamsPerClient: number;
  /** Time between two signs of life. A reader that takes nothing for as long is cut. */
  readonly heartbeatMs: number;
};

export const DEFAULT_STREAM_OPTIONS: StreamOptions = {
  maxStreams: 200,
  maxStreamsPerClient: 20,
  heartbeatMs: 15_000,
};

export type StreamDeps = { readonly source: Source; readonly streamsChanged: StreamsChanged };

/** A stream that is ready to flow. */
export type OpenStream = {
  /** Settles when the stream has ended. To be called once, or `leave` instead. */
  flow(response: Writable): Promise<void>;
  leave(): void;
};

export type Stream = {
  /**
   * @param client whoever may have only so many streams
   * @throws {StreamError}
   */
  open(wish: Wish, client: string): Promise<OpenStream>;
  /** Events were logged. */
  wake(): void;
  /** Streams that are open, and how many were cut because their readers did not read. */
  figures(): { open: number; cut: number };
  /** Ends every stream; the readers may come back to the next process. */
  close(): void;
};

type Connection = { readonly sink: Sink; position: Position | undefined; wasFull: boolean };

export function createStream(options: StreamOptions, { source, streamsChanged }: StreamDeps): Stream {
  const bell = createBell();
  const wants = createWants(streamsChanged);
  const seats = new Map<string, number>();
  const connections = new Set<Connection>();
  let taken = 0;
  let cut = 0;
  let isClosed = false;

  function takeSeat(client: string): () => void {
    if (isClosed || taken >= options.maxStreams) {
      throw new StreamError("STREAM_FULL", `${options.maxStreams} streams are open, and no more are served`);
    }
    const seated = seats.get(client) ?? 0;
    if (seated >= options.maxStreamsPerClient) {
      throw new StreamError("STREAM_LIMIT", `${seated} streams are open from this address; close one first`);
    }
    seats.set(client, seated + 1);
    taken++;
    return () => {
      taken--;
      const left = seats.get(client)! - 1;
      if (left > 0) seats.set(client, left);
      else seats.delete(client);
    };
  }

  function beat(): void {
    for (const connection of connections) {
      const { sink, position, wasFull } = connection;
      connection.wasFull = sink.isFull();
      if (!connection.wasFull) sink.write(heartbeat(position));
      else if (wasFull) {
        cut++;
        sink.cut();
      }
    }
  }
  const timer = setInterval(beat, options.heartbeatMs);
  timer.unref();

  return {
    async open(wish, client) {
      const leaveSeat = takeSeat(client);
      const { names } = wish.subscription;
      const leave = () => {
        leaveSeat();
        wants.remove(names);
      };
      try {
        const start = startOf(wish, await wants.add(names), source);
        return {
          leave,
          async flow(response) {
            const sink = createSink(response, bell.ring);
            const connection: Connection = { sink, position: undefined, wasFull: false };
            connections.add(connection);
            sink.write(greeting(positionOf(start)));
            try {
              const onPosition = (position: Position | undefined) => {
                connection.position = position;
              };
              await follow(start, { source, subscription: wish.subscription, sink, bell, onPosition });
            } finally {
              connections.delete(connection);
              leave();
            }
          },
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
    wake() {
      source.wake();
      bell.ring();
    },
    figures: () => ({ open: connections.size, cut }),
    close() {
      isClosed = true;
      clearInterval(timer);
      for (const { sink } of connections) sink.end();
      bell.ring();
    },
  };
}

function positionOf(start: Start): Position | undefined {
  if (start.from === "chain") return undefined;
  const { after: sequence, place } = start;
  return { sequence, ...(place && { place }) };
}
