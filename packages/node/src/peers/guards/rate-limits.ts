/** How many events an address may send (p2p.md 6.3, 2). */
import { WireError } from "../wire/error.ts";
import { RATE_LIMITS, TIMES_MS, UNIKNODE_RATE_LIMITS } from "../wire/limits.ts";
import type { EventName } from "../wire/requests/arguments.ts";
import { createRefusals } from "./refusals.ts";
import { createWindowCounter } from "./window.ts";

export type RateLimitOptions = {
  /** Of an address, all events together. */
  eventsPerSecond: number;
  /** Plain addresses, as all that are counted. */
  exempt: ReadonlySet<string>;
};

/** Times are milliseconds of one steady clock. */
export type RateLimits = {
  /**
   * Counts an event.
   *
   * @throws {WireError} RATE_EXCEEDED
   */
  count(address: string, event: EventName, at: number): void;
  /** Whether new connections of an address are refused, since it exceeded the global limit. */
  isBlocked(address: string, at: number): boolean;
  /** Counts an event that somebody asks about, without consequences (p2p.md 9). */
  look(address: string, event: string, at: number): { blocked: boolean; exceededLimitOnEndpoint: boolean };
};

export function createRateLimits({ eventsPerSecond, exempt }: RateLimitOptions): RateLimits {
  const all = createWindowCounter({ events: eventsPerSecond, windowMs: 1000 });
  const byEvent = new Map(
    Object.entries({ ...RATE_LIMITS, ...UNIKNODE_RATE_LIMITS }).map(([event, limit]) => [
      event,
      createWindowCounter(limit),
    ]),
  );
  const blocked = createRefusals({ durationMs: TIMES_MS.refusal });

  return {
    isBlocked: blocked.has,
    look(address, event, at) {
      if (exempt.has(address)) return { blocked: false, exceededLimitOnEndpoint: false };
      const isExceeded = byEvent.get(event)?.take(address, at) === false;
      return {
        blocked: blocked.has(address, at) || !all.take(address, at),
        exceededLimitOnEndpoint: isExceeded,
      };
    },
    count: (address, event, at) => {
      if (exempt.has(address)) return;
      if (blocked.has(address, at)) throw new WireError("RATE_EXCEEDED", "an event of a blocked address");
      if (!all.take(address, at)) {
        blocked.add(address, at);
        throw new WireError("RATE_EXCEEDED", `more than ${eventsPerSecond} events in a second`);
      }
      if (byEvent.get(event)?.take(address, at) === false) {
        throw new WireError("RATE_EXCEEDED", `too many ${event}`);
      }
    },
  };
}
