/** Rate window of requests to one address, which the peer counts when it reads them (p2p.md 12.3). */
import type { Window } from "../guards/window.ts";

/** Times are milliseconds of one monotonic clock. */
export type SentRequest = {
  sentAt: number;
  /** Latest time at which the peer has read the request; undefined while it may be unread. */
  readAt: number | undefined;
};

export type RateWindowOptions = Window & {
  /** Time that a reply may take; after a later reply, the request may have been read late. */
  readonly replyMs: number;
};

export type RateWindow = {
  /** Milliseconds until another request may be sent; infinite until the peer has read an earlier one. */
  delayMs(at: number): number;
  add(request: SentRequest): void;
  /** Number of requests that may be sent without waiting. */
  available(at: number): number;
};

export function createRateWindow({ events, windowMs, replyMs }: RateWindowOptions): RateWindow {
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
