/** Rate limit for single routes that are expensive. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { createAllowances, type RateLimitOptions } from "../../http/connections/allowances.ts";
import { HttpError } from "../../http/core/error.ts";

/** Returns a hook that responds with 429 to requests beyond the limit of a client. */
export function createBound(options: RateLimitOptions, nowMs: () => number) {
  const count = createAllowances(options);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const now = nowMs();
    const { remaining, resetMs } = count(request.ip, now);
    if (remaining >= 0) return;
    const seconds = Math.ceil((resetMs - now) / 1_000);
    reply.header("retry-after", seconds);
    throw new HttpError("RATE_LIMITED", `Rate limit exceeded: retry in ${seconds} s`);
  };
}
