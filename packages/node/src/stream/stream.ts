/**
 * The live stream: every open connection reads the event log for itself, at its own pace, so that nobody waits for
 * anybody and nothing is kept in memory for a slow reader.
 */
import type { Writable } from "node:stream";
import type { MatchingObserver } from "../subscriptions/conditions/observer.ts";
import type { Slices } from "../subscriptions/conditions/slices.ts";
import { createBell } from "./bell.ts";
import { StreamError } from "./error.ts";
import { follow } from "./follow.ts";
import { greeting, heartbeat } from "./frame.ts";
import type { Position } from "./position.ts";
import { createSeats, type SeatOptions } from "./seats.ts";
import { createSink, type Sink } from "./sink.ts";
import type { Source } from "./source.ts";
import { type Start, startOf, type Wish } from "./start.ts";
import { createSuspensions } from "./suspensions.ts";
import { createWants, type StreamsChanged } from "./wants.ts";

export type StreamOptions = SeatOptions & {
  /** Time between two signs of life. A reader that takes nothing for as long is cut. */
  readonly heartbeatMs: number;
  /** What waits in this process for all readers together; beyond it those with the most are cut. */
  readonly maxUnreadBytes: number;
  /** For how long a client whose conditions cost too much gets no stream with patterns. */
  readonly suspensionMs: number;
};

export const DEFAULT_STREAM_OPTIONS: StreamOptions = {
  maxStreams: 200,
  maxStreamsPerClient: 20,
  maxStreamsPerSite: 60,
  heartbeatMs: 15_000,
  maxUnreadBytes: 16 * 1_024 * 1_024,
  suspensionMs: 60_000,
};

export type StreamDeps = {
  readonly source: Source;
  readonly streamsChanged: StreamsChanged;
  /** Shared with all others who evaluate conditions in this thread. */
  readonly slices: Slices;
  readonly observer: Pick<MatchingObserver, "slowed" | "suspended">;
  /** Unix time in milliseconds. */
  readonly nowMs: () => number;
};

export type StreamFigures = {
  /** Those that are being opened included. */
  readonly open: number;
  /** Cut because their readers did not read. */
  readonly cut: number;
  /** What waits in this process for their readers. */
  readonly unreadBytes: number;
};

/** A stream that is ready to flow. */
export type OpenStream = {
  /** Settles when the stream has ended. To be called once, or `leave` instead. */
  flow(response: Writable): Promise<void>;
  leave(): void;
};

export type Stream = {
  /**
   * @param address of the client
   * @throws {StreamError}
   */
  open(wish: Wish, address: string): Promise<OpenStream>;
  /** Events were logged. */
  wake(): void;
  figures(): StreamFigures;
  /** Ends every stream; the readers may come back to the next process. */
  close(): void;
};

type Connection = { readonly sink: Sink; position: Position | undefined; wasFull: boolean };

export function createStream(options: StreamOptions, deps: StreamDeps): Stream {
  const { source, streamsChanged, slices, observer, nowMs } = deps;
  const bell = createBell();
  const wants = createWants(streamsChanged);
  const seats = createSeats(options);
  const suspensions = createSuspensions(options.suspensionMs, nowMs);
  const connections = new Set<Connection>();
  let cut = 0;
  let isClosed = false;

  const unreadBytes = () => [...connections].reduce((sum, { sink }) => sum + sink.unreadBytes(), 0);

  /** Cuts those with the most until the rest is within the bound. */
  function limitUnread(): void {
    let excess = unreadBytes() - options.maxUnreadBytes;
    if (excess <= 0) return;
    const byUnread = [...connections].sort((a, b) => b.sink.unreadBytes() - a.sink.unreadBytes());
    for (const { sink } of byUnread) {
      if (excess <= 0) return;
      excess -= sink.unreadBytes();
      cut++;
      sink.cut();
    }
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
    async open(wish, address) {
      if (isClosed) throw new StreamError("STREAM_FULL", "the node is about to stop");
      const { names, hasPatterns } = wish.subscription;
      if (hasPatterns) suspensions.check(address);
      const leaveSeat = seats.take(address);
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
              await follow(start, {
                source,
                subscription: wish.subscription,
                sink,
                bell,
                slices,
                observer,
                onPosition(position) {
                  connection.position = position;
                },
                onFull: limitUnread,
                onTooExpensive() {
                  suspensions.add(address);
                  observer.suspended("stream");
                },
              });
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
    figures: () => ({ open: seats.taken(), cut, unreadBytes: unreadBytes() }),
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
