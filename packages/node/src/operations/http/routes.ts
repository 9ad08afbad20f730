/** Routes for operators: health and metrics, without prefix and without the rate limit of the API. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import {
  createAllowances,
  type RateLimitOptions,
  rateLimited,
  resetSecondsOf,
} from "../../http/connections/admission.ts";
import type { Access } from "../../http/webhooks/access.ts";
import type { Check, Readiness } from "../health.ts";

export type Operations = {
  readonly live: () => Check;
  readonly ready: () => Promise<Readiness>;
  /** Resolves to a summary, which is sent as JSON. */
  readonly status: () => Promise<object>;
  readonly metrics: () => Promise<string>;
  readonly metricsType: string;
};

/** Requests of one client for the summary and the metrics: two per second. */
const SUMMARY_LIMIT = { limit: 120, windowMs: 60_000 };

/** Balancers check with OPTIONS by default. */
const CHECKS = ["GET", "OPTIONS"];

const options = { config: { isUnlimited: true }, schema: { hide: true } };

/** Without access control, the metrics are public; health always is. */
export function createOperationRoutes(
  access: Access | undefined,
  operations: Operations,
): FastifyPluginAsync {
  const rateLimit = createRouteRateLimit(SUMMARY_LIMIT, Date.now);

  return async (app) => {
    // A response shows that this thread is live. If the consensus thread is not, the process must be
    // restarted.
    app.route({
      method: CHECKS,
      url: "/health/live",
      ...options,
      async handler(_request, reply) {
        const { ok, detail } = operations.live();
        reply.code(ok ? 200 : 503);
        return ok ? { status: "live" } : { status: "not live", detail };
      },
    });

    app.route({
      method: CHECKS,
      url: "/health/ready",
      ...options,
      async handler(_request, reply) {
        const { isReady, checks } = await operations.ready();
        reply.code(isReady ? 200 : 503);
        return { status: isReady ? "ready" : "not ready", checks };
      },
    });

    app.get("/health/status", { ...options, onRequest: rateLimit }, () => operations.status());

    app.get(
      "/metrics",
      { ...options, onRequest: access ? [access, rateLimit] : rateLimit },
      async (_request, reply) => {
        reply.type(operations.metricsType);
        return operations.metrics();
      },
    );
  };
}

/** Returns a hook that responds with 429 to requests beyond the limit of a client. */
function createRouteRateLimit(options: RateLimitOptions, nowMs: () => number) {
  const count = createAllowances(options);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const now = nowMs();
    const allowance = count(request.ip, now);
    if (allowance.remaining >= 0) return;
    reply.header("retry-after", resetSecondsOf(allowance, now));
    throw rateLimited(allowance, now);
  };
}
