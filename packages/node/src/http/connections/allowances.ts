/** Counts the requests of each client and each site in its time window. */
import { clientGroup, siteGroup } from "../../platform/addresses/groups.ts";
import { HttpError } from "../core/error.ts";

export type RateLimitOptions = {
  /** Maximum of requests of one client in a window; a client is an IPv4 address or the /64 of an IPv6 address. */
  readonly limit: number;
  readonly windowMs: number;
};

/** `remaining` goes below zero; `resetMs` is Unix time in milliseconds. */
export type Allowance = { remaining: number; readonly resetMs: number };

/**
 * Maximum of stored windows; beyond it the oldest is removed. Its client then starts a new window: other clients can
 * shorten a window, but never use it up.
 */
const MAX_WINDOWS = 50_000;
/** A site (the /48 of an IPv6 address) may send as many requests as this number of clients. */
const CLIENTS_PER_SITE = 10;

/** Creates a function that counts a request, and returns the allowance of its client, or of its site if that is used up. */
export function createAllowances({
  limit,
  windowMs,
}: RateLimitOptions): (address: string, nowMs: number) => Allowance {
  const allowances = new Map<string, Allowance>();

  function count(group: string, allowed: number, nowMs: number): Allowance {
    const known = allowances.get(group);
    if (known && known.resetMs > nowMs) {
      known.remaining -= 1;
      return known;
    }
    // Windows have one length, so the order of insertion is the order of expiry.
    allowances.delete(group);
    for (const [oldest, { resetMs }] of allowances) {
      if (resetMs > nowMs && allowances.size < MAX_WINDOWS) break;
      allowances.delete(oldest);
    }
    const fresh = { remaining: allowed - 1, resetMs: nowMs + windowMs };
    allowances.set(group, fresh);
    return fresh;
  }

  return (address, nowMs) => {
    const client = clientGroup(address);
    const own = count(client, limit, nowMs);
    const site = siteGroup(address);
    // Each IPv4 address is its own site.
    if (site === client || own.remaining < 0) return own;
    const shared = count(site, limit * CLIENTS_PER_SITE, nowMs);
    return shared.remaining < 0 ? shared : own;
  };
}

/** Returns the seconds until the window of an allowance ends. */
export const resetSecondsOf = ({ resetMs }: Allowance, nowMs: number): number =>
  Math.ceil((resetMs - nowMs) / 1_000);

/** The error of a request beyond its allowance. */
export const rateLimited = (allowance: Allowance, nowMs: number): HttpError =>
  new HttpError("RATE_LIMITED", `Rate limit exceeded: retry in ${resetSecondsOf(allowance, nowMs)} s`);
