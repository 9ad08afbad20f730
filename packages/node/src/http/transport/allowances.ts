/** How many requests each client may still send in its window of time. */
import { clientGroup } from "../../addresses/groups.ts";

export type RateLimitOptions = {
  /** Requests of one client in a window; a client is an IPv4 address or the /64 of an IPv6 address. */
  readonly limit: number;
  readonly windowMs: number;
};

/** `remaining` goes below zero; `resetMs` is Unix time in milliseconds. */
export type Allowance = { remaining: number; readonly resetMs: number };

/** Clients remembered at once: beyond it the oldest window is forgotten, so that memory has an end. */
const MAX_CLIENTS = 50_000;

/** Makes a function that counts a request of an address, and answers what is left to its client. */
export function createAllowances({
  limit,
  windowMs,
}: RateLimitOptions): (address: string, nowMs: number) => Allowance {
  const allowances = new Map<string, Allowance>();

  return (address, nowMs) => {
    const client = clientGroup(address);
    const known = allowances.get(client);
    if (known && known.resetMs > nowMs) {
      known.remaining -= 1;
      return known;
    }
    // Windows have one length, so the order of insertion is the order of expiry.
    allowances.delete(client);
    for (const [oldest, { resetMs }] of allowances) {
      if (resetMs > nowMs && allowances.size < MAX_CLIENTS) break;
      allowances.delete(oldest);
    }
    const fresh = { remaining: limit - 1, resetMs: nowMs + windowMs };
    allowances.set(client, fresh);
    return fresh;
  };
}
