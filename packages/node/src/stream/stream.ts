/**
 * The live stream: every open connection reads the event log at its own pace, so that no client waits for another and
 * nothing is kept in memory for a slow one.
 */
import type { Writable } from "node:stream";
import { Notifier } from "../platform/notifier.ts";
import type { MatchingObserver, Slices } from "../subscriptions/conditions/slices.ts";
import { findStart, follow, type Start, type StreamRequest } from "./follow.ts";
import {
  OpenSubscriptions,
  type StreamLimitOptions,
  StreamLimits,
  type StreamsChanged,
  Suspensions,
} from "./open-streams.ts";
import { Sink } from "./sink.ts";
import { greeting, heartbeat, type Position, type Source } from "./source.ts";
import { StreamError } from "./subscription.ts";

export type StreamOptions = StreamLimitOptions & {
  /** Time between two heartbeats. A client that reads nothing for this time is disconnected. */
  readonly heartbeatMs: number;
  /** Maximum unread bytes of all clients in this process; beyond it, the clients with the most are disconnected. */
  readonly maxUnreadBytes: number;
  /** Time for which a client whose conditions cost too much gets no stream with patterns. */
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

type StreamDeps = {
  readonly source: Source;
  readonly streamsChanged: StreamsChanged;
  /** Shared by everything in this thread that evaluates conditions. */
  readonly slices: Slices;
  readonly observer: Pick<MatchingObserver, "slowed" | "suspended">;
  /** Returns the Unix time in milliseconds. */
  readonly nowMs: () => number;
};

export type StreamFigures = {
  /** Open streams, including streams that are being opened. */
  readonly open: number;
  /** Streams closed because their clients did not read, since the start. */
  readonly cut: number;
  /** Bytes in this process that the clients have not read yet. */
  readonly unreadBytes: number;
};

/** A stream that is ready to send. */
type OpenStream = {
  /** Resolves when the stream has ended. Call it once, or call `release` instead. */
  flow(response: Writable): Promise<void>;
  release(): void;
};

type Connection = { readonly sink: Sink; position: Position | undefined; fullAt: number | undefined };

/** A stream that counts as open, and does not send yet. */
type Opened = {
  readonly request: StreamRequest;
  /** Address of the client. */
  readonly address: string;
  readonly start: Start;
  readonly release: () => void;
};

/** The streams of all clients of this process. */
export class Stream {
  readonly #options: StreamOptions;
  readonly #deps: StreamDeps;
  readonly #notifier = new Notifier();
  readonly #openSubscriptions: OpenSubscriptions;
  readonly #limits: StreamLimits;
  readonly #suspensions: Suspensions;
  readonly #connections = new Set<Connection>();
  readonly #timer: NodeJS.Timeout;
  /** Number of streams closed because their clients did not read. */
  #cutStreams = 0;
  #isClosed = false;

  constructor(options: StreamOptions, deps: StreamDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#openSubscriptions = new OpenSubscriptions(deps.streamsChanged);
    this.#limits = new StreamLimits(options);
    this.#suspensions = new Suspensions(options.suspensionMs, deps.nowMs);
    this.#timer = setInterval(() => this.#beat(), options.heartbeatMs);
    this.#timer.unref();
  }

  /** Is also called without its object. */
  readonly figures = (): StreamFigures => ({
    open: this.#limits.open(),
    cut: this.#cutStreams,
    unreadBytes: this.#unreadBytes(),
  });

  /**
   * @param address address of the client
   * @throws {StreamError}
   */
  async open(request: StreamRequest, address: string): Promise<OpenStream> {
    if (this.#isClosed) throw new StreamError("STREAM_FULL", "the node is stopping");
    const { names, hasPatterns } = request.subscription;
    if (hasPatterns) this.#suspensions.check(address);
    const releaseSlot = this.#limits.acquire(address);
    const release = () => {
      releaseSlot();
      this.#openSubscriptions.remove(names);
    };
    try {
      const since = await this.#openSubscriptions.add(names);
      const start = await findStart(request, since, this.#deps.source);
      return { release, flow: (response) => this.#flow({ request, address, start, release }, response) };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Must be called after events were recorded. */
  notify(): void {
    this.#deps.source.refresh();
    this.#notifier.notify();
  }

  /** Ends every stream; the clients may reconnect to the next process. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const { sink } of this.#connections) sink.end();
    this.#notifier.notify();
  }

  /** Sends events to the client until the stream has ended. */
  async #flow({ request, address, start, release }: Opened, response: Writable): Promise<void> {
    const { source, slices, observer } = this.#deps;
    const notifier = this.#notifier;
    const sink = new Sink(response, () => notifier.notify());
    const connection: Connection = { sink, position: undefined, fullAt: undefined };
    this.#connections.add(connection);
    sink.write(greeting(positionOf(start, source.logId)));
    try {
      await follow(start, {
        source,
        subscription: request.subscription,
        sink,
        notifier,
        slices,
        observer,
        onPosition(position) {
          connection.position = position;
        },
        onFull: () => this.#limitUnread(),
        onTooExpensive: () => {
          this.#suspensions.add(address);
          observer.suspended("stream");
        },
      });
    } finally {
      // After an error the client must not wait for events.
      if (sink.isOpen()) sink.cut();
      this.#connections.delete(connection);
      release();
    }
  }

  /** Sends a heartbeat to every client. Disconnects the clients that have read nothing since the last one. */
  #beat(): void {
    for (const connection of this.#connections) {
      const { sink, position, fullAt } = connection;
      connection.fullAt = sink.isFull() ? sink.reads : undefined;
      if (connection.fullAt === undefined) sink.write(heartbeat(position));
      else if (connection.fullAt === fullAt) this.#cut(sink);
    }
  }

  /** Disconnects the clients with the most unread bytes until the rest is within the bound. */
  #limitUnread(): void {
    let excess = this.#unreadBytes() - this.#options.maxUnreadBytes;
    if (excess <= 0) return;
    const byUnread = [...this.#connections].sort((a, b) => b.sink.unreadBytes() - a.sink.unreadBytes());
    for (const { sink } of byUnread) {
      if (excess <= 0) return;
      excess -= sink.unreadBytes();
      this.#cut(sink);
    }
  }

  #cut(sink: Sink): void {
    this.#cutStreams++;
    sink.cut();
  }

  #unreadBytes(): number {
    return [...this.#connections].reduce((sum, { sink }) => sum + sink.unreadBytes(), 0);
  }
}

function positionOf(start: Start, logId: string | undefined): Position | undefined {
  if (start.from === "chain") return undefined;
  const { after: sequence, block } = start;
  return { sequence, logId, ...(block && { block }) };
}
