/** At most so many requests of one address in a window of time (http-api.md 1.6). */
import type { FastifyReply } from "fastify";
import type { Server } from "../app.ts";
import { HttpError } from "./error.ts";

export type RateLimitOptions = {
  /** Requests of one address in a window. */
  readonly limit: number;
  readonly windowMs: number;
};

/** `remaining` goes below zero; `resetMs` is Unix time in milliseconds. */
type Allowance = { remaining: number; readonly resetMs: number };

/** Addresses remembered at once: beyond it the oldest window is forgotten, so that memory has an end. */
const MAX_ADDRESSES = 50_000;

export function addRateLimit(app: Server, { limit, windowMs }: RateLimitOptions, nowMs: () => number): void {
  const allowances = new Map<string, Allowance>();

  function count(address: string): Allowance {
    const now = nowMs();
    const known = allowances.get(address);
    if (known && known.resetMs > now) {
      known.remaining -= 1;
      return known;
    }
    // Windows have one length, so the order of insertion is the order of expiry.
    allowances.delete(address);
    for (const [oldest, { resetMs }] of allowances) {
      if (resetMs > now && allowances.size < MAX_ADDRESSES) break;
      allowances.delete(oldest);
    }
    const fresh = { remaining: limit - 1, resetMs: now + windowMs };
    allowances.set(address, fresh);
    return fresh;
  }

  const show = (reply: FastifyReply, { remaining, resetMs }: Allowance): void => {
    reply
      .header("x-ratelimit-userlimit", limit)
      .header("x-ratelimit-userremaining", remaining)
      .header("x-ratelimit-userreset", resetMs);
  };

  app.decorateRequest("allowance", null);
  // Counted before the body is read, shown only once it could be read; unknown paths are neither.
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404) return done();
    const allowance = count(request.ip);
    if (allowance.remaining < 0) {
      show(reply, allowance);
      return done(new HttpError(429, "Rate limit exceeded"));
    }
    request.allowance = allowance;
    done();
  });
  app.addHook("preValidation", (request, reply, done) => {
    if (request.allowance) show(reply, request.allowance);
    done();
  });
}

declare module "fastify" {
  interface FastifyRequest {
    allowance: Allowance | null;
  }
}
