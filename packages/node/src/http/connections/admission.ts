/**
 * Clients of requests: their addresses behind proxies, the access list, and the number of requests of each client in a time window.
 *
 * Trusted proxies name their clients in `X-Forwarded-For`, and TLS in `X-Forwarded-Proto`. All clients of an untrusted proxy count as
 * one client with the address of the proxy, and the node logs a warning. No other header of this kind has an effect: most proxies
 * pass on what a client wrote.
 */

import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";
import ipaddr from "ipaddr.js";
import type { Logger } from "pino";
import { clientGroup, type RangeTest, siteGroup } from "../../platform/addresses.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { allowOrigin } from "../core/headers.ts";

const REMEDY = "list the proxies in --http-trust-proxy, and configure them to send X-Forwarded-For";

/**
 * Reduces `X-Forwarded-For` to the addresses that trusted proxies vouch for, before limits count by them. Some proxies append the
 * port of a client, which must not turn each connection into a separate client. Removes what the library would believe:
 * `X-Forwarded-Host` instead of the host of the request, and a protocol that is none. Warns of the first request that an
 * untrusted proxy seems to have forwarded.
 */
export function addForwarded(app: Server, isProxy: RangeTest, logger: Logger): void {
  let isWarned = false;
  app.addHook("onRequest", ({ headers, socket }, _reply, done) => {
    delete headers["x-forwarded-host"];
    if (!PROTOCOL.test(`${headers["x-forwarded-proto"]}`)) delete headers["x-forwarded-proto"];
    const header = headers[FORWARDED_FOR];
    if (header === undefined) return done();
    const { remoteAddress = "" } = socket;
    // The header stays even without an address: it shows that the request came through a proxy.
    headers[FORWARDED_FOR] = forwardedAddresses(header, remoteAddress, isProxy).join(", ");
    if (!isWarned && !isProxy(remoteAddress)) {
      isWarned = true;
      logger.warn(
        { remoteAddress },
        `received X-Forwarded-For from an address that is not a trusted proxy: ${REMEDY}`,
      );
    }
    done();
  });
}

/** The server reads the last entry. */
const PROTOCOL = /(^|,) *https? *$/;
/** Maximum of proxies of one request; a client may write any number of proxy addresses into the header. */
const MAX_PROXIES = 16;
const FORWARDED_FOR = "x-forwarded-for" satisfies keyof IncomingHttpHeaders;

/**
 * Returns the addresses that proxies vouch for, client first: the end of the header, back to the first address that is
 * not a proxy.
 */
function forwardedAddresses(header: string | string[], sender: string, isProxy: RangeTest): string[] {
  const addresses: string[] = [];
  let hop: string | undefined = sender;
  for (const entry of String(header).split(",").reverse()) {
    if (entry.trim() === "") continue;
    if (addresses.length >= MAX_PROXIES || !isProxy(hop)) break;
    hop = parseAddress(entry.trim());
    // An unnamed client counts as the proxy that sent the request.
    if (hop === undefined) break;
    addresses.unshift(hop);
  }
  return addresses;
}

const WITH_PORT = /^(?:\[([\da-f:.]+(?:%\w+)?)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i;

/** Returns the canonical address without brackets, port and zone; undefined for any other text. */
function parseAddress(text: string): string | undefined {
  const [, inBrackets, plain] = WITH_PORT.exec(text) ?? [];
  if (plain !== undefined) {
    return ipaddr.IPv4.isValidFourPartDecimal(plain) ? ipaddr.IPv4.parse(plain).toString() : undefined;
  }
  const address = (inBrackets ?? text).replace(/%\w+$/, "");
  return ipaddr.IPv6.isValid(address) ? ipaddr.process(address).toString() : undefined;
}

/** Options under their names in the configuration. */
export type Exposure = {
  readonly httpHost: string;
  readonly httpTrustProxy?: string | undefined;
  readonly rateLimit: number;
};

/**
 * Warns of a rate limit that fails behind a proxy, when the server can only be reached through one. A loopback node usually
 * has local clients only, so that a warning is justified once a request with `X-Forwarded-For` arrives.
 */
export function warnOfUnnamedProxy(exposure: Exposure, logger: Logger): void {
  const { httpHost: host, httpTrustProxy, rateLimit } = exposure;
  if (httpTrustProxy !== undefined || rateLimit === 0 || isLoopback(host) || !isPrivate(host)) return;
  logger.warn({ host }, `behind a proxy, --rate-limit would treat all of its clients as one: ${REMEDY}`);
}

const PRIVATE_RANGES: ReadonlySet<string> = new Set(["private", "uniqueLocal", "linkLocal"]);

const rangeOf = (host: string): string | undefined =>
  ipaddr.isValid(host) ? ipaddr.process(host).range() : undefined;
const isLoopback = (host: string): boolean => host === "localhost" || rangeOf(host) === "loopback";
const isPrivate = (host: string): boolean => PRIVATE_RANGES.has(rangeOf(host) ?? "");

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

/** Counts the requests of clients in their windows. */
export class Allowances {
  readonly #options: RateLimitOptions;
  readonly #allowances = new Map<string, Allowance>();

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** Counts a request, and returns the allowance of its client, or of its site if that is used up. */
  count(address: string, nowMs: number): Allowance {
    const { limit } = this.#options;
    const client = clientGroup(address);
    const own = this.#countIn(client, limit, nowMs);
    const site = siteGroup(address);
    // Each IPv4 address is its own site.
    if (site === client || own.remaining < 0) return own;
    const shared = this.#countIn(site, limit * CLIENTS_PER_SITE, nowMs);
    return shared.remaining < 0 ? shared : own;
  }

  #countIn(group: string, allowed: number, nowMs: number): Allowance {
    const known = this.#allowances.get(group);
    const latestMs = nowMs + this.#options.windowMs;
    // A window that ends later began before the clock was set back.
    if (known && known.resetMs > nowMs && known.resetMs <= latestMs) {
      known.remaining -= 1;
      return known;
    }
    // Windows have one length, so the order of insertion is the order of expiry.
    this.#allowances.delete(group);
    for (const [oldest, { resetMs }] of this.#allowances) {
      if (resetMs > nowMs && this.#allowances.size < MAX_WINDOWS) break;
      this.#allowances.delete(oldest);
    }
    const fresh = { remaining: allowed - 1, resetMs: latestMs };
    this.#allowances.set(group, fresh);
    return fresh;
  }
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
  const allowances = new Allowances(options);
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
    const allowance = allowances.count(request.ip, now);
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
