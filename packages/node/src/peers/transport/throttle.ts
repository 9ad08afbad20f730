/**
 * Throttles requests, so that an address never receives more requests than it accepts (p2p.md 12.3). A peer that was
 * suspended reads at once all requests that were sent to it meanwhile, and counts them then.
 */
import type { Window } from "../guards/rate-limits.ts";
import type { EventName } from "../wire/events.ts";
import { RATE_LIMITS, UNIKNODE_RATE_LIMITS } from "../wire/limits.ts";
import { PeerError } from "./calls.ts";

export type Permit = {
  /** Called when the request is sent. It counts until the peer has read it, and then for its rate window. */
  sent(): void;
  /** Called when a reply has arrived: the peer has read the request and all requests before it. */
  replied(): void;
};

/** Tolerance for network jitter: requests may arrive closer to each other than they were sent. */
const JITTER_MS = 300;
/** A server accepts 100 in a second from one address, but this node accepts 30 messages of a server, and each request has a reply. */
const ALL = { events: 25, windowMs: 1000, replyMs: JITTER_MS };
const TRANSACTIONS = "p2p.peer.postTransactions";
/** The others remain for blocks, pings and downloads, however many transactions wait. */
const OF_TRANSACTIONS = { events: 20, windowMs: 1000, replyMs: JITTER_MS };
/** Maximum number of waiting messages with transactions for one address: five seconds of them. */
const MAX_WAITING = 100;
/** Replies with blocks take longer than the request waits to be read. */
const BLOCKS = "p2p.peer.getBlocks";
/** The processes of a peer read the ended connection and the new one, in any order within this time. */
const CONNECTED_MS = 1_000;

/** Times are milliseconds of one monotonic clock. */
type SentRequest = {
  sentAt: number;
  /** Latest time at which the peer has read the request; undefined while it may be unread. */
  readAt: number | undefined;
  readonly timeoutMs: number;
};

/** The rate window of requests to one address, which the peer counts when it reads them (p2p.md 12.3). */
class RateWindow {
  readonly #options: Window & { readonly replyMs: number };
  /** The requests that count the longest, at most `events`. */
  readonly #counted: SentRequest[] = [];

  /** @param options `replyMs` is the time that a reply may take; after a later reply, the request may have been read late */
  constructor(options: Window & { readonly replyMs: number }) {
    this.#options = options;
  }

  /** Milliseconds until another request may be sent; infinite until the peer has read an earlier one. */
  delayMs(at: number): number {
    return this.#counted.length < this.#options.events ? 0 : Math.max(0, this.#firstEnd() - at);
  }

  add(request: SentRequest): void {
    if (this.#counted.length >= this.#options.events) {
      const end = this.#firstEnd();
      const first = this.#counted.findIndex((other) => this.#endOf(other) === end);
      this.#counted.splice(first, 1);
    }
    this.#counted.push(request);
  }

  /** Number of requests that may be sent without waiting. */
  available(at: number): number {
    return this.#options.events - this.#counted.filter((request) => this.#endOf(request) > at).length;
  }

  #firstEnd(): number {
    return Math.min(...this.#counted.map((request) => this.#endOf(request)));
  }

  /** Time from which a request no longer counts. */
  #endOf({ sentAt, readAt }: SentRequest): number {
    const { windowMs, replyMs } = this.#options;
    if (readAt === undefined) return Number.POSITIVE_INFINITY;
    return (readAt - sentAt > replyMs ? readAt : sentAt) + windowMs;
  }
}

export class RequestThrottle {
  readonly #all = new RateWindow(ALL);
  readonly #byEvent = new Map<string, RateWindow>([
    [TRANSACTIONS, new RateWindow(OF_TRANSACTIONS)],
    ...Object.entries({ ...RATE_LIMITS, ...UNIKNODE_RATE_LIMITS }).map(
      ([event, { events, windowMs }]): [string, RateWindow] => {
        const paddedMs = windowMs + JITTER_MS;
        const replyMs = event === BLOCKS ? paddedMs : JITTER_MS;
        return [event, new RateWindow({ events, windowMs: paddedMs, replyMs })];
      },
    ),
  ]);
  /** Requests that the peer may not have read, in order. */
  readonly #unread = new Set<SentRequest>();
  /** Wakes the requests that wait; those for a connection that has ended fail. */
  readonly #waiting = new Set<(isConnected: boolean) => void>();
  #waitingTransactions = 0;
  #isClosed = false;

  /**
   * Settles when the event may be sent, and counts it as sent.
   *
   * @param timeoutMs of the request
   * @throws {PeerError} PEER_BUSY when too many messages with transactions wait already; PEER_GONE when the connection ends; PEER_TIMEOUT when the
   * peer replies to no earlier request in time
   */
  async acquire(event: EventName, timeoutMs: number): Promise<Permit> {
    const isTransaction = event === TRANSACTIONS;
    if (isTransaction && this.#waitingTransactions >= MAX_WAITING) {
      throw new PeerError("PEER_BUSY", `${MAX_WAITING} messages wait for the rate limit of this peer`);
    }
    const windows = this.#windowsOf(event);
    const startedAt = performance.now();
    for (;;) {
      const at = performance.now();
      const delayMs = Math.max(...windows.map((window) => window.delayMs(at)));
      if (delayMs === 0 || this.#isClosed) {
        const request = { sentAt: at, readAt: at, timeoutMs };
        for (const window of windows) window.add(request);
        return this.#createPermit(request);
      }
      const waitMs = Number.isFinite(delayMs) ? delayMs : this.#lastTimeout(startedAt + timeoutMs) - at;
      if (waitMs <= 0)
        throw new PeerError("PEER_TIMEOUT", "the peer did not reply to an earlier request in time");
      this.#waitingTransactions += Number(isTransaction);
      const isConnected = await this.#wait(waitMs);
      this.#waitingTransactions -= Number(isTransaction);
      if (!isConnected) {
        throw new PeerError("PEER_GONE", "the connection ended before the rate limit permitted the request");
      }
    }
  }

  /** Returns true if `count` requests of the event could be sent without waiting. */
  hasCapacity(event: EventName, count: number): boolean {
    const at = performance.now();
    return Math.min(...this.#windowsOf(event).map((window) => window.available(at))) >= count;
  }

  /** Called when a connection is open: the peer now reads the messages that the previous connection left unread. */
  connected(): void {
    this.#markRead(performance.now() + CONNECTED_MS);
  }

  /** Called when the connection has ended: pending requests fail. */
  disconnected(): void {
    this.#wake(false);
  }

  /** Settles all waiting requests at once; later ones cannot be sent. */
  close(): void {
    this.#isClosed = true;
    this.#wake(true);
  }

  #windowsOf(event: EventName): RateWindow[] {
    const ofEvent = this.#byEvent.get(event);
    return ofEvent ? [this.#all, ofEvent] : [this.#all];
  }

  /** Returns the time at which all unread requests have timed out; `earliest` or later. */
  #lastTimeout(earliest: number): number {
    return Math.max(earliest, ...Array.from(this.#unread, ({ sentAt, timeoutMs }) => sentAt + timeoutMs));
  }

  #createPermit(request: SentRequest): Permit {
    return {
      sent: () => {
        request.sentAt = performance.now();
        request.readAt = undefined;
        this.#unread.add(request);
      },
      replied: () => {
        if (this.#unread.has(request)) this.#markRead(performance.now(), request);
      },
    };
  }

  /** Settles after a time, or when the peer has read a request; false if the connection has ended. */
  #wait(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isConnected: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        resolve(isConnected);
      };
      const timer = setTimeout(end, ms, true);
      this.#waiting.add(end);
    });
  }

  #wake(isConnected: boolean): void {
    const waiting = this.#waiting;
    for (const end of [...waiting]) end(isConnected);
  }

  /** Marks unread requests as read, up to the given one. */
  #markRead(at: number, last?: SentRequest): void {
    for (const request of this.#unread) {
      request.readAt = at;
      this.#unread.delete(request);
      if (request === last) break;
    }
    this.#wake(true);
  }
}
