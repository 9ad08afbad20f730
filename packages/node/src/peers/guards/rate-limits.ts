/**
 * Rate limits of the events of an address (p2p.md 6.3 point 2), and of a /64 of IPv6, because one client can
 * have more addresses than can be counted.
 */
import { clientGroup } from "../../platform/addresses.ts";
import type { EventName } from "../wire/events.ts";
import { RATE_LIMITS, TIMES_MS, UNIKNODE_RATE_LIMITS } from "../wire/limits.ts";
import { WireError } from "../wire/wire-error.ts";
import { Refusals } from "./refusals.ts";

export type RateLimitOptions = {
  /** All events of one address. */
  eventsPerSecond: number;
  /** Normalized addresses, as all that are counted. */
  exempt: ReadonlySet<string>;
};

/** A /64 may send as much as this many addresses: the default maximum of peers in it. */
const ADDRESSES_PER_CLIENT = 5;

/** Times are milliseconds of one monotonic clock. */
export class RateLimits {
  readonly #options: RateLimitOptions;
  readonly #all: Counters;
  readonly #byEvent: ReadonlyMap<string, Counters>;
  readonly #blocked = new Refusals({ durationMs: TIMES_MS.refusal });

  constructor(options: RateLimitOptions) {
    this.#options = options;
    this.#all = new Counters({ events: options.eventsPerSecond, windowMs: 1000 });
    const limits = Object.entries({ ...RATE_LIMITS, ...UNIKNODE_RATE_LIMITS });
    this.#byEvent = new Map(limits.map(([event, limit]) => [event, new Counters(limit)]));
  }

  /**
   * Counts an event.
   *
   * @throws {WireError} RATE_EXCEEDED
   */
  count(address: string, event: EventName, at: number): void {
    const { exempt, eventsPerSecond } = this.#options;
    if (exempt.has(address)) return;
    if (this.isBlocked(address, at)) throw new WireError("RATE_EXCEEDED", "an event of a blocked address");
    const exceeded = this.#all.exceeded(address, at);
    if (exceeded !== undefined) {
      this.#blocked.add(exceeded, at);
      throw new WireError("RATE_EXCEEDED", `more than ${eventsPerSecond} events in a second`);
    }
    if (this.#byEvent.get(event)?.exceeded(address, at) !== undefined) {
      throw new WireError("RATE_EXCEEDED", `too many ${event}`);
    }
  }

  /** Returns true if new connections of an address are refused, because it exceeded the global limit. */
  isBlocked(address: string, at: number): boolean {
    return this.#blocked.has(address, at) || this.#blocked.has(clientGroup(address), at);
  }

  /** Counts an event that a separate forger queries; an excess does not block the address (p2p.md 9). */
  peek(address: string, event: string, at: number): { blocked: boolean; exceededLimitOnEndpoint: boolean } {
    if (this.#options.exempt.has(address)) return { blocked: false, exceededLimitOnEndpoint: false };
    const exceeded = this.#byEvent.get(event)?.exceeded(address, at);
    return {
      blocked: this.isBlocked(address, at) || this.#all.exceeded(address, at) !== undefined,
      exceededLimitOnEndpoint: exceeded !== undefined,
    };
  }
}

/** Counters of an event: of each address, and of each /64. */
class Counters {
  readonly #byAddress: WindowCounter;
  readonly #byClient: WindowCounter;

  constructor({ events, windowMs }: Window) {
    this.#byAddress = new WindowCounter({ events, windowMs });
    this.#byClient = new WindowCounter({ events: events * ADDRESSES_PER_CLIENT, windowMs });
  }

  /** Counts an event for its address and its /64. Returns the one whose limit is exceeded, if any. */
  exceeded(address: string, at: number): string | undefined {
    if (!this.#byAddress.take(address, at)) return address;
    const client = clientGroup(address);
    return client === address || this.#byClient.take(client, at) ? undefined : client;
  }
}

/** Limits of the number of events in a window of time: a counter for received ones, and a pacer for sent ones. */
export type Window = { events: number; windowMs: number };

type Count = { readonly startedAt: number; events: number };

/**
 * Counts events per key, in fixed windows that begin with the first event. Times are milliseconds of one monotonic clock.
 */
export class WindowCounter {
  readonly #window: Window;
  // Oldest first, since a new window is added at the end.
  readonly #counts = new Map<string, Count>();

  constructor(window: Window) {
    this.#window = window;
  }

  /** Counts an event; false if the limit of the window is exceeded. */
  take(key: string, at: number): boolean {
    for (const [other, { startedAt }] of this.#counts) {
      if (at - startedAt < this.#window.windowMs) break;
      this.#counts.delete(other);
    }
    const count = this.#counts.get(key);
    if (!count) this.#counts.set(key, { startedAt: at, events: 1 });
    else count.events++;
    return (count?.events ?? 1) <= this.#window.events;
  }

  /** Number of keys with a window that has not ended. */
  size(): number {
    return this.#counts.size;
  }
}

/** Sends texts in order, at most `events` in any `windowMs`; the others wait. */
export class Pacer {
  readonly #window: Window;
  readonly #transmit: (text: string) => void;
  /** Times of the last sent texts, oldest first. */
  readonly #sent: number[] = [];
  readonly #waiting: string[] = [];
  #waitingLength = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(window: Window, transmit: (text: string) => void) {
    this.#window = window;
    this.#transmit = transmit;
  }

  send(text: string): void {
    this.#waiting.push(text);
    this.#waitingLength += text.length;
    if (!this.#timer) this.#flush();
  }

  /** Total length of the waiting texts. */
  waitingLength(): number {
    return this.#waitingLength;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
    this.#waitingLength = 0;
  }

  #flush(): void {
    const { events, windowMs } = this.#window;
    const sent = this.#sent;
    this.#timer = undefined;
    const now = performance.now();
    for (let [first] = sent; first !== undefined && now - first >= windowMs; [first] = sent) sent.shift();
    while (sent.length < events) {
      const text = this.#waiting.shift();
      if (text === undefined) return;
      sent.push(now);
      this.#waitingLength -= text.length;
      this.#transmit(text);
    }
    const [first = now] = sent;
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#flush(), windowMs - (now - first));
  }
}
