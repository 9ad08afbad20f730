/**
 * At most so many requests of one client in a window of time (http-api.md 1.6). Told in the headers of the old network,
 * and in those that client libraries know (draft-ietf-httpapi-ratelimit-headers).
 */
import type { FastifyReply } from "fastify";
import type { Server } from "../server/app.ts";
import { HttpError } from "../server/error.ts";
import { type Allowance, createAllowances, type RateLimitOptions } from "./allowances.ts";

export type { RateLimitOptions } from "./allowances.ts";

export function addRateLimit(app: Server, options: RateLimitOptions, nowMs: () => number): void {
  const { limit, windowMs } = options;
  const count = createAllowances(options);
  const policy = `${limit};w=${Math.ceil(windowMs / 1000)}`;

  function show(reply: FastifyReply, { remaining, resetMs }: Allowance, now: number): void {
    const resetSeconds = Math.ceil((resetMs - now) / 1000);
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
  // Counted before the body is read, shown only once it could be read; unknown paths are neither.
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404 || request.routeOptions.config.isUnlimited) return done();
    const now = nowMs();
    const allowance = count(request.ip, now);
    if (allowance.remaining < 0) {
      show(reply, allowance, now);
      return done(new HttpError(429, "Rate limit exceeded"));
    }
    // Without a body there is nothing to wait for.
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
    /** Requests are neither counted nor refused. */
    isUnlimited?: boolean;
  }
  interface FastifyRequest {
    allowance: Allowance | null;
  }
}
