/**
 * Throttles requests, so that an address never receives more requests than it accepts (p2p.md 12.3). A peer that was
 * suspended reads at once all requests that were sent to it meanwhile, and counts them then.
 */

import type { Window } from "../guards/window.ts";
import type { EventName } from "../wire/events.ts";
import { RATE_LIMITS, UNIKNODE_RATE_LIMITS } from "../wire/limits.ts";
import { PeerError } from "./calls.ts";

export type RequestThrottle = {
  /**
   * Settles when the event may be sent, and counts it as sent.
   *
   * @throws {PeerError} PEER_BUSY when too many wait already; PEER_GONE when the connection ends
   */
  acquire(event: EventName): Promise<Permit>;
  /** Returns true if `count` requests of the event could be sent without waiting. */
  hasCapacity(event: EventName, count: number): boolean;
  /** Called when a connection is open: the peer now reads the messages that the previous connection left unread. */
  connected(): void;
  /** Called when the connection has ended: pending requests fail. */
  disconnected(): void;
  /** Settles all waiting requests at once; later ones cannot be sent. */
  close(): void;
};

export type Permit = {
  /** Called when the request is sent. It counts until the peer has read it, and then for its rate window. */
  sent(): void;
  /** Called when a reply has arrived: the peer has read the request and all requests before it. */
  replied(): void;
};

/** Tolerance for network jitter: requests may arrive closer to each other than they were sent. */
const JITTER_MS = 300;
/** A server accepts 100 in a second from one address. */
const ALL = { events: 60, windowMs: 1000, replyMs: JITTER_MS };
/** Maximum number of waiting requests of one address: about two seconds of requests. */
const MAX_WAITING = 100;
/** Replies with blocks take longer than the request waits to be read. */
const BLOCKS = "p2p.peer.getBlocks";
/** The processes of a peer read the ended connection and the new one, in any order within this time. */
const CONNECTED_MS = 1_000;

type State = {
  readonly all: RateWindow;
  readonly byEvent: ReadonlyMap<string, RateWindow>;
  /** Requests that the peer may not have read, in order. */
  readonly unread: Set<SentRequest>;
  /** Wakes the requests that wait; those for a connection that has ended fail. */
  readonly waiting: Set<(isConnected: boolean) => void>;
  isClosed: boolean;
};

export function createRequestThrottle(): RequestThrottle {
  const state: State = {
    all: createRateWindow(ALL),
    byEvent: new Map(
      Object.entries({ ...RATE_LIMITS, ...UNIKNODE_RATE_LIMITS }).map(([event, { events, windowMs }]) => {
        const paddedMs = windowMs + JITTER_MS;
        const replyMs = event === BLOCKS ? paddedMs : JITTER_MS;
        return [event, createRateWindow({ events, windowMs: paddedMs, replyMs })];
      }),
    ),
    unread: new Set(),
    waiting: new Set(),
    isClosed: false,
  };
  return {
    acquire: (event) => acquire(state, event),
    hasCapacity(event, count) {
      const at = performance.now();
      return Math.min(...windowsOf(state, event).map((window) => window.available(at))) >= count;
    },
    connected: () => markRead(state, performance.now() + CONNECTED_MS),
    disconnected: () => wake(state, false),
    close() {
      state.isClosed = true;
      wake(state, true);
    },
  };
}

const windowsOf = ({ all, byEvent }: State, event: EventName): RateWindow[] => {
  const ofEvent = byEvent.get(event);
  return ofEvent ? [all, ofEvent] : [all];
};

async function acquire(state: State, event: EventName): Promise<Permit> {
  if (state.waiting.size >= MAX_WAITING) {
    throw new PeerError("PEER_BUSY", `${MAX_WAITING} requests wait for the rate limit of this peer`);
  }
  const windows = windowsOf(state, event);
  for (;;) {
    const at = performance.now();
    const delayMs = Math.max(...windows.map((window) => window.delayMs(at)));
    if (delayMs === 0 || state.isClosed) {
      const request = { sentAt: at, readAt: at };
      for (const window of windows) window.add(request);
      return createPermit(state, request);
    }
    if (!(await wait(state, delayMs))) {
      throw new PeerError("PEER_GONE", "the connection ended before the rate limit permitted the request");
    }
  }
}

function createPermit(state: State, request: SentRequest): Permit {
  return {
    sent() {
      request.sentAt = performance.now();
      request.readAt = undefined;
      state.unread.add(request);
    },
    replied() {
      if (state.unread.has(request)) markRead(state, performance.now(), request);
    },
  };
}

/** Settles after a time, or when the peer has read a request; false if the connection has ended. */
function wait({ waiting }: State, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isConnected: boolean) => {
      clearTimeout(timer);
      waiting.delete(end);
      resolve(isConnected);
    };
    const timer = Number.isFinite(ms) ? setTimeout(end, ms, true) : undefined;
    waiting.add(end);
  });
}

function wake({ waiting }: State, isConnected: boolean): void {
  for (const end of [...waiting]) end(isConnected);
}

/** Marks unread requests as read, up to the given one. */
function markRead(state: State, at: number, last?: SentRequest): void {
  for (const request of state.unread) {
    request.readAt = at;
    state.unread.delete(request);
    if (request === last) break;
  }
  wake(state, true);
}

/** Times are milliseconds of one monotonic clock. */
type SentRequest = {
  sentAt: number;
  /** Latest time at which the peer has read the request; undefined while it may be unread. */
  readAt: number | undefined;
};

type RateWindow = {
  /** Milliseconds until another request may be sent; infinite until the peer has read an earlier one. */
  delayMs(at: number): number;
  add(request: SentRequest): void;
  /** Number of requests that may be sent without waiting. */
  available(at: number): number;
};

/**
 * Creates the rate window of requests to one address, which the peer counts when it reads them (p2p.md 12.3).
 *
 * @param options `replyMs` is the time that a reply may take; after a later reply, the request may have been read late
 */
function createRateWindow({ events, windowMs, replyMs }: Window & { readonly replyMs: number }): RateWindow {
  /** The requests that count the longest, at most `events`. */
  const counted: SentRequest[] = [];

  /** Time from which a request no longer counts. */
  function endOf({ sentAt, readAt }: SentRequest): number {
    if (readAt === undefined) return Number.POSITIVE_INFINITY;
    return (readAt - sentAt > replyMs ? readAt : sentAt) + windowMs;
  }

  const firstEnd = () => Math.min(...counted.map(endOf));

  return {
    delayMs: (at) => (counted.length < events ? 0 : Math.max(0, firstEnd() - at)),
    add(request) {
      if (counted.length >= events) {
        const end = firstEnd();
        counted.splice(
          counted.findIndex((other) => endOf(other) === end),
          1,
        );
      }
      counted.push(request);
    },
    available: (at) => events - counted.filter((request) => endOf(request) > at).length,
  };
}
