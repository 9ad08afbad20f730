/** Throttles requests, so that an address never receives more requests than it accepts (p2p.md 12.3). */
import type { Window } from "../guards/window.ts";
import { RATE_LIMITS, UNIKNODE_RATE_LIMITS } from "../wire/limits.ts";
import type { EventName } from "../wire/requests/arguments.ts";
import { PeerError } from "./error.ts";

export type RequestThrottle = {
  /**
   * Settles when the event may be sent, and counts it as sent.
   *
   * @throws {PeerError} PEER_BUSY when too many wait already
   */
  acquire(event: EventName): Promise<void>;
  /** Returns true if `count` requests of the event could be sent without waiting. */
  hasCapacity(event: EventName, count: number): boolean;
  /** Settles at once what waits; nothing can be sent from then on. */
  close(): void;
};

/** Tolerance for network jitter: requests may arrive closer to each other than they were sent. */
const JITTER_MS = 300;
/** A server accepts 100 in a second from one address. */
const ALL: Window = { events: 60, windowMs: 1000 };
/** Maximum number of waiting requests of one address: about two seconds of requests. */
const MAX_WAITING = 100;

export function createRequestThrottle(): RequestThrottle {
  const all = createRateWindow(ALL);
  const byEvent = new Map(
    Object.entries({ ...RATE_LIMITS, ...UNIKNODE_RATE_LIMITS }).map(([event, { events, windowMs }]) => [
      event,
      createRateWindow({ events, windowMs: windowMs + JITTER_MS }),
    ]),
  );
  /** Ends the waits. */
  const waiting = new Set<() => void>();

  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      waiting.add(end);
    });

  return {
    async acquire(event) {
      if (waiting.size >= MAX_WAITING) {
        throw new PeerError("PEER_BUSY", `${MAX_WAITING} requests wait for the rate limit of this peer`);
      }
      const at = performance.now();
      const waitMs = Math.max(all.reserve(at), byEvent.get(event)?.reserve(at) ?? 0);
      if (waitMs > 0) await wait(waitMs);
    },
    hasCapacity(event, count) {
      const at = performance.now();
      return Math.min(all.available(at), byEvent.get(event)?.available(at) ?? count) >= count;
    },
    close() {
      for (const end of waiting) end();
    },
  };
}

type RateWindow = {
  /** Reserves the next permit; returns the milliseconds to wait for it. */
  reserve(at: number): number;
  /** Permits that are available without waiting. */
  available(at: number): number;
};

function createRateWindow({ events, windowMs }: Window): RateWindow {
  /** Times of the last reserved permits, in order. */
  const reserved: number[] = [];
  return {
    reserve(at) {
      const oldest = reserved.length < events ? undefined : reserved.shift();
      const first = oldest === undefined ? at : Math.max(at, oldest + windowMs);
      reserved.push(first);
      return first - at;
    },
    available: (at) => events - reserved.filter((moment) => moment + windowMs > at).length,
  };
}
