/** Waiting before requests, so that an address never gets more of them than it takes (p2p.md 12.3). */
import type { Window } from "../guards/window.ts";
import { RATE_LIMITS, UNIKNODE_RATE_LIMITS } from "../wire/limits.ts";
import type { EventName } from "../wire/requests/arguments.ts";
import { PeerError } from "./error.ts";

export type RequestThrottle = {
  /**
   * Settles when the event may be sent, which then counts as sent.
   *
   * @throws {PeerError} PEER_BUSY when too many wait already
   */
  turn(event: EventName): Promise<void>;
  /** Whether so many of the event could be sent at once. */
  hasCapacity(event: EventName, count: number): boolean;
};

/** Requests may arrive closer to each other than they were sent. */
const JITTER_MS = 300;
/** A server takes 100 in a second of one address. */
const ALL: Window = { events: 60, windowMs: 1000 };
/** Requests of one address that wait for their turn, about two seconds of them. */
const MAX_WAITING = 100;

export function createRequestThrottle(): RequestThrottle {
  const all = createSpacing(ALL);
  const byEvent = new Map(
    Object.entries({ ...RATE_LIMITS, ...UNIKNODE_RATE_LIMITS }).map(([event, { events, windowMs }]) => [
      event,
      createSpacing({ events, windowMs: windowMs + JITTER_MS }),
    ]),
  );
  let waiting = 0;
  return {
    async turn(event) {
      if (waiting >= MAX_WAITING) {
        throw new PeerError("PEER_BUSY", `${MAX_WAITING} requests wait for their turn at this peer`);
      }
      const at = performance.now();
      const waitMs = Math.max(all.take(at), byEvent.get(event)?.take(at) ?? 0);
      if (waitMs === 0) return;
      waiting++;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waiting--;
    },
    hasCapacity(event, count) {
      const at = performance.now();
      return Math.min(all.room(at), byEvent.get(event)?.room(at) ?? count) >= count;
    },
  };
}

type Spacing = {
  /** Milliseconds to wait for the next place, which is taken. */
  take(at: number): number;
  /** Places that nobody has to wait for. */
  room(at: number): number;
};

function createSpacing({ events, windowMs }: Window): Spacing {
  /** Moments of the last places taken, in order. */
  const taken: number[] = [];
  return {
    take(at) {
      const first = taken.length < events ? at : Math.max(at, taken.shift()! + windowMs);
      taken.push(first);
      return first - at;
    },
    room: (at) => events - taken.filter((moment) => moment + windowMs > at).length,
  };
}
