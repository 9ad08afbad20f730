/** For those who run the node, not for its clients: without a prefix, and without a limit of requests. */
import type { FastifyPluginAsync } from "fastify";
import { type AccessOptions, createAccess } from "../../http/webhooks/access.ts";
import type { Check, Readiness } from "../health/health.ts";
import { createBound } from "./bound.ts";

export type Operations = {
  readonly live: () => Check;
  readonly ready: () => Promise<Readiness>;
  /** A summary as JSON. */
  readonly status: () => Promise<object>;
  readonly metrics: () => Promise<string>;
  readonly metricsType: string;
};

/** Requests of one client for the summary and the metrics: two a second, and for the rest the client is at fault. */
const SUMMARY_LIMIT = { limit: 120, windowMs: 60_000 };

const options = { config: { isUnlimited: true }, schema: { hide: true } };

/** Without access options, everybody may read the metrics; health is open to everybody in any case. */
export function createOperationRoutes(
  access: AccessOptions | undefined,
  operations: Operations,
): FastifyPluginAsync {
  const bound = createBound(SUMMARY_LIMIT, Date.now);

  return async (app) => {
    // This thread lives, since it answers; the process is to be started anew when the other one does not.
    app.get("/health/live", options, async (_request, reply) => {
      const { ok, detail } = operations.live();
      reply.code(ok ? 200 : 503);
      return ok ? { status: "live" } : { status: "not live", detail };
    });

    app.get("/health/ready", options, async (_request, reply) => {
      const { isReady, checks } = await operations.ready();
      reply.code(isReady ? 200 : 503);
      return { status: isReady ? "ready" : "not ready", checks };
    });

    app.get("/health/status", { ...options, onRequest: bound }, () => operations.status());

    app.get(
      "/metrics",
      { ...options, onRequest: access ? [createAccess(access), bound] : bound },
      async (_request, reply) => {
        reply.type(operations.metricsType);
        return operations.metrics();
      },
    );
  };
}
