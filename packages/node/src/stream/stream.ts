/**
 * The live stream: every open connection reads the event log at its own pace, so that no client waits for another and
 * nothing is kept in memory for a slow one.
 */
import type { Writable } from "node:stream";
import { createNotifier, type Notifier } from "../platform/notifier.ts";
import type { MatchingObserver, Slices } from "../subscriptions/conditions/slices.ts";
import { findStart, follow, type Start, type StreamRequest } from "./follow.ts";
import { greeting, heartbeat, type Position } from "./frame.ts";
import {
  createOpenSubscriptions,
  createStreamLimits,
  createSuspensions,
  type OpenSubscriptions,
  type StreamLimitOptions,
  type StreamLimits,
  type StreamsChanged,
  type Suspensions,
} from "./open-streams.ts";
import { createSink, type Sink } from "./sink.ts";
import type { Source } from "./source.ts";
import { StreamError } from "./stream-error.ts";

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
  /** Unix time in milliseconds. */
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
  /** Settles when the stream has ended. Call it once, or call `release` instead. */
  flow(response: Writable): Promise<void>;
  release(): void;
};

export type Stream = {
  /**
   * @param address address of the client
   * @throws {StreamError}
   */
  open(request: StreamRequest, address: string): Promise<OpenStream>;
  /** Must be called after events were recorded. */
  notify(): void;
  figures(): StreamFigures;
  /** Ends every stream; the clients may reconnect to the next process. */
  close(): void;
};

type Connection = { readonly sink: Sink; position: Position | undefined; wasFull: boolean };

type State = {
  readonly options: StreamOptions;
  readonly deps: StreamDeps;
  readonly notifier: Notifier;
  readonly openSubscriptions: OpenSubscriptions;
  readonly limits: StreamLimits;
  readonly suspensions: Suspensions;
  readonly connections: Set<Connection>;
  /** Streams closed because their clients did not read. */
  cut: number;
  isClosed: boolean;
};

export function createStream(options: StreamOptions, deps: StreamDeps): Stream {
  const state: State = {
    options,
    deps,
    notifier: createNotifier(),
    openSubscriptions: createOpenSubscriptions(deps.streamsChanged),
    limits: createStreamLimits(options),
    suspensions: createSuspensions(options.suspensionMs, deps.nowMs),
    connections: new Set(),
    cut: 0,
    isClosed: false,
  };
  const { notifier, limits, connections } = state;
  const timer = setInterval(() => beat(state), options.heartbeatMs);
  timer.unref();
  return {
    open: (request, address) => open(state, request, address),
    notify() {
      deps.source.refresh();
      notifier.notify();
    },
    figures: () => ({ open: limits.open(), cut: state.cut, unreadBytes: unreadBytes(state) }),
    close() {
      state.isClosed = true;
      clearInterval(timer);
      for (const { sink } of connections) sink.end();
      notifier.notify();
    },
  };
}

async function open(state: State, request: StreamRequest, address: string): Promise<OpenStream> {
  const { deps, openSubscriptions, limits, suspensions } = state;
  if (state.isClosed) throw new StreamError("STREAM_FULL", "the node is stopping");
  const { names, hasPatterns } = request.subscription;
  if (hasPatterns) suspensions.check(address);
  const releaseSlot = limits.acquire(address);
  const release = () => {
    releaseSlot();
    openSubscriptions.remove(names);
  };
  try {
    const start = await findStart(request, await openSubscriptions.add(names), deps.source);
    return { release, flow: (response) => flow(state, { request, address, start, release }, response) };
  } catch (error) {
    release();
    throw error;
  }
}

/** A stream that counts as open, and does not send yet. */
type Opened = {
  readonly request: StreamRequest;
  /** Address of the client. */
  readonly address: string;
  readonly start: Start;
  readonly release: () => void;
};

/** Sends events to the client until the stream has ended. */
async function flow(
  state: State,
  { request, address, start, release }: Opened,
  response: Writable,
): Promise<void> {
  const { deps, notifier, suspensions, connections } = state;
  const { source, slices, observer } = deps;
  const sink = createSink(response, notifier.notify);
  const connection: Connection = { sink, position: undefined, wasFull: false };
  connections.add(connection);
  sink.write(greeting(positionOf(start)));
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
      onFull: () => limitUnread(state),
      onTooExpensive() {
        suspensions.add(address);
        observer.suspended("stream");
      },
    });
  } finally {
    connections.delete(connection);
    release();
  }
}

function positionOf(start: Start): Position | undefined {
  if (start.from === "chain") return undefined;
  const { after: sequence, block } = start;
  return { sequence, ...(block && { block }) };
}

/** Sends a heartbeat to every client. Disconnects the clients that have read nothing since the last one. */
function beat(state: State): void {
  for (const connection of state.connections) {
    const { sink, position, wasFull } = connection;
    connection.wasFull = sink.isFull();
    if (!connection.wasFull) sink.write(heartbeat(position));
    else if (wasFull) cut(state, sink);
  }
}

/** Disconnects the clients with the most unread bytes until the rest is within the bound. */
function limitUnread(state: State): void {
  let excess = unreadBytes(state) - state.options.maxUnreadBytes;
  if (excess <= 0) return;
  const byUnread = [...state.connections].sort((a, b) => b.sink.unreadBytes() - a.sink.unreadBytes());
  for (const { sink } of byUnread) {
    if (excess <= 0) return;
    excess -= sink.unreadBytes();
    cut(state, sink);
  }
}

function cut(state: State, sink: Sink): void {
  state.cut++;
  sink.cut();
}

const unreadBytes = ({ connections }: State): number =>
  [...connections].reduce((sum, { sink }) => sum + sink.unreadBytes(), 0);
