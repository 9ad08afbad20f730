/** Admission of requests: the access list of addresses, and the number of requests of each client in a time window. */
import type { FastifyReply } from "fastify";
import { clientGroup, siteGroup } from "../../platform/addresses/groups.ts";
import type { RangeTest } from "../../platform/addresses/ranges.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { allowOrigin } from "../core/headers.ts";

export type RateLimitOptions = {
  /** Maximum of requests of one client in a window; a client is an IPv4 address or the /64 of an IPv6 address. */
  readonly limit: number;
  readonly windowMs: number;
};

/** `remaining` goes below zero; `resetMs` is Unix time in milliseconds. */
type Allowance = { remaining: number; readonly resetMs: number };

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

/** Refuses requests from other addresses with 403 (http-api.md 1.1). */
export function addAccessList(app: Server, isListed: RangeTest): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (isListed(request.ip)) return done();
    // Browsers can read errors too (http-api.md 1.8).
    allowOrigin(request, reply);
    done(
      new HttpError(
        "ADDRESS_REFUSED",
        `This node does not serve the address ${request.ip}: see --http-allow`,
      ),
    );
  });
}

/**
 * Limits the requests of each client in a time window (http-api.md 1.6). Responses have the headers of the old node, and the headers that
 * client libraries know (draft-ietf-httpapi-ratelimit-headers).
 */
export function addRateLimit(app: Server, options: RateLimitOptions, nowMs: () => number): void {
  const { limit, windowMs } = options;
  const count = createAllowances(options);
  const policy = `${limit};w=${Math.ceil(windowMs / 1000)}`;

  function show(reply: FastifyReply, allowance: Allowance, now: number): void {
    const { remaining, resetMs } = allowance;
    const resetSeconds = resetSecondsOf(allowance, now);
    reply.headers({
      "x-ratelimit-userlimit": limit,
      "x-ratelimit-userremaining": remaining,
      "x-ratelimit-userreset": resetMs,
      "ratelimit-policy": policy,
      "ratelimit-limit": limit,
      "ratelimit-remaining": Math.max(remaining, 0),
      "ratelimit-reset": resetSeconds,
      ...(remaining < 0 && { "retry-after": resetSeconds }),
    });
  }

  app.decorateRequest("allowance", null);
  // Requests are counted before their body is read; the headers are set afterwards. Unknown paths are not counted.
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404 || request.routeOptions.config.isUnlimited) return done();
    const now = nowMs();
    const allowance = count(request.ip, now);
    if (allowance.remaining < 0) {
      show(reply, allowance, now);
      return done(rateLimited(allowance, now));
    }
    // These methods have no body.
    if (request.method === "GET" || request.method === "HEAD") show(reply, allowance, now);
    else request.allowance = allowance;
    done();
  });
  app.addHook("preValidation", (request, reply, done) => {
    if (request.allowance) show(reply, request.allowance, nowMs());
    done();
  });
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** True if requests are neither counted nor refused. */
    isUnlimited?: boolean;
  }
  interface FastifyRequest {
    allowance: Allowance | null;
  }
}
