/** Rate limit of single routes that are expensive. */
import type { FastifyReply, FastifyRequest } from "fastify";
import {
  createAllowances,
  type RateLimitOptions,
  rateLimited,
  resetSecondsOf,
} from "../../http/connections/allowances.ts";

/** Returns a hook that responds with 429 to requests beyond the limit of a client. */
export function createRouteRateLimit(options: RateLimitOptions, nowMs: () => number) {
  const count = createAllowances(options);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const now = nowMs();
    const allowance = count(request.ip, now);
    if (allowance.remaining >= 0) return;
    reply.header("retry-after", resetSecondsOf(allowance, now));
    throw rateLimited(allowance, now);
  };
}
