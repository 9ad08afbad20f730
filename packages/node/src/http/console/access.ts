/** Access to operations for a signed-in browser: the session takes the place of the webhook token. */
import type { FastifyRequest } from "fastify";
import { createCrossSiteTest } from "../../platform/addresses/hosts.ts";
import { createAllowances } from "../connections/allowances.ts";
import { HttpError } from "../core/error.ts";
import { type Access, requireJson } from "../webhooks/access.ts";
import { sessionOf } from "./secrets.ts";
import type { Sessions } from "./sessions.ts";

/** Creates a check that refuses requests that a page of another site can make a browser send. */
export function createSameSite(hosts: readonly string[]): (request: FastifyRequest) => void {
  const crossSite = createCrossSiteTest(hosts, "--http-hosts");
  return ({ host, headers, socket }) => {
    const reason = crossSite({ host, origin: headers.origin, localAddress: socket.localAddress });
    if (reason !== undefined) throw new HttpError("CROSS_SITE", reason);
  };
}

const READING = ["GET", "HEAD"];
/** Limit of requests of one client without a session; requests of a session are not counted. */
const SIGNED_OUT = { limit: 300, windowMs: 60_000 };

export function createSessionAccess(
  sessions: Sessions,
  hosts: readonly string[],
  nowMs: () => number,
): Access {
  const refuseCrossSite = createSameSite(hosts);
  const count = createAllowances(SIGNED_OUT);
  return async (request) => {
    refuseCrossSite(request);
    if (sessionOf(request, sessions) === undefined) {
      if (count(request.ip, nowMs()).remaining < 0) {
        throw new HttpError("RATE_LIMITED", "too many requests without a session: try again in a minute");
      }
      throw new HttpError(
        "SESSION_MISSING",
        'You are not signed in, or the session has ended: open the link that "uniknode console" prints, or sign in with the webhook token',
      );
    }
    // Only browsers set this header; pages cannot.
    if (!READING.includes(request.method) && request.headers["sec-fetch-site"] !== "same-origin") {
      throw new HttpError("CROSS_SITE", "a console session can make changes only from pages of the console");
    }
    requireJson(request);
  };
}
