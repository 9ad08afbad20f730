/** Admission of requests: the access list of addresses, and the number of requests of each client in a time window. */

import type { FastifyReply } from "fastify";
import type { RangeTest } from "../../platform/addresses/ranges.ts";
import type { Server } from "../core/app.ts";
import { allowOrigin } from "../core/cors.ts";
import { HttpError } from "../core/error.ts";
import {
  type Allowance,
  createAllowances,
  type RateLimitOptions,
  rateLimited,
  resetSecondsOf,
} from "./allowances.ts";

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
