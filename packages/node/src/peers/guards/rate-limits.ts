/**
 * Rate limits of the events of an address (p2p.md 6.3 point 2), and of a /64 of IPv6, because one client can
 * have more addresses than can be counted.
 */
import { clientGroup } from "../../platform/addresses/groups.ts";
import type { EventName } from "../wire/events.ts";
import { RATE_LIMITS, TIMES_MS, UNIKNODE_RATE_LIMITS } from "../wire/limits.ts";
import { WireError } from "../wire/wire-error.ts";
import { createRefusals } from "./refusals.ts";
import { createWindowCounter, type Window } from "./window.ts";

export type RateLimitOptions = {
  /** All events of one address. */
  eventsPerSecond: number;
  /** Normalized addresses, as all that are counted. */
  exempt: ReadonlySet<string>;
};

/** Times are milliseconds of one monotonic clock. */
export type RateLimits = {
  /**
   * Counts an event.
   *
   * @throws {WireError} RATE_EXCEEDED
   */
  count(address: string, event: EventName, at: number): void;
  /** Returns true if new connections of an address are refused, because it exceeded the global limit. */
  isBlocked(address: string, at: number): boolean;
  /** Counts an event that a separate forger queries; an excess does not block the address (p2p.md 9). */
  peek(address: string, event: string, at: number): { blocked: boolean; exceededLimitOnEndpoint: boolean };
};

/** A /64 may send as much as this many addresses: the default maximum of peers in it. */
const ADDRESSES_PER_CLIENT = 5;

export function createRateLimits({ eventsPerSecond, exempt }: RateLimitOptions): RateLimits {
  const all = createCounters({ events: eventsPerSecond, windowMs: 1000 });
  const byEvent = new Map(
    Object.entries({ ...RATE_LIMITS, ...UNIKNODE_RATE_LIMITS }).map(([event, limit]) => [
      event,
      createCounters(limit),
    ]),
  );
  const blocked = createRefusals({ durationMs: TIMES_MS.refusal });
  const isBlocked = (address: string, at: number) =>
    blocked.has(address, at) || blocked.has(clientGroup(address), at);

  return {
    isBlocked,
    peek(address, event, at) {
      if (exempt.has(address)) return { blocked: false, exceededLimitOnEndpoint: false };
      const exceeded = byEvent.get(event)?.exceeded(address, at);
      return {
        blocked: isBlocked(address, at) || all.exceeded(address, at) !== undefined,
        exceededLimitOnEndpoint: exceeded !== undefined,
      };
    },
    count: (address, event, at) => {
      if (exempt.has(address)) return;
      if (isBlocked(address, at)) throw new WireError("RATE_EXCEEDED", "an event of a blocked address");
      const exceeded = all.exceeded(address, at);
      if (exceeded !== undefined) {
        blocked.add(exceeded, at);
        throw new WireError("RATE_EXCEEDED", `more than ${eventsPerSecond} events in a second`);
      }
      if (byEvent.get(event)?.exceeded(address, at) !== undefined) {
        throw new WireError("RATE_EXCEEDED", `too many ${event}`);
      }
    },
  };
}

/** Counts an event for its address and its /64. Returns the one whose limit is exceeded, if any. */
function createCounters({ events, windowMs }: Window) {
  const byAddress = createWindowCounter({ events, windowMs });
  const byClient = createWindowCounter({ events: events * ADDRESSES_PER_CLIENT, windowMs });
  return {
    exceeded(address: string, at: number): string | undefined {
      if (!byAddress.take(address, at)) return address;
      const client = clientGroup(address);
      return client === address || byClient.take(client, at) ? undefined : client;
    },
  };
}
