/**
 * Routes for operators, health and metrics, without prefix and without the rate limit of the API; and a separate
 * listener for them, on an address that clients of the API cannot reach. Its connections have their own limit, which
 * these clients cannot use up.
 */

import type { AddressInfo } from "node:net";
import { type FastifyPluginAsync, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Logger } from "pino";
import { Allowances, rateLimited, resetSecondsOf } from "../../http/connections/admission.ts";
import { addDeadlines, addHeldBytes, addSlowReaders } from "../../http/connections/bounds.ts";
import {
  type ConnectionBounds,
  type ConnectionFigures,
  Connections,
} from "../../http/connections/connections.ts";
import {
  addOddRequests,
  closeSoon,
  listening,
  respondingToUnreadable,
} from "../../http/connections/listener.ts";
import type { Server } from "../../http/core/app.ts";
import { addCommonHeaders } from "../../http/core/headers.ts";
import { addFailures, addMethods } from "../../http/server/failures.ts";
import { addUnknownPaths } from "../../http/server/unknown-paths.ts";
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
  const rateLimit = createRateLimit();

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
function createRateLimit() {
  const allowances = new Allowances(SUMMARY_LIMIT);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const now = Date.now();
    const allowance = allowances.count(request.ip, now);
    if (allowance.remaining >= 0) return;
    reply.header("retry-after", resetSecondsOf(allowance, now));
    throw rateLimited(allowance, now);
  };
}

/** Enough for a few probes and scrapers. */
const BOUNDS: ConnectionBounds = { total: 100, perClient: 25 };
const RESPONSE_TIMEOUT_MS = 8_000;
const TAKE_TIMEOUT_MS = 15_000;
const MAX_HELD_BYTES = 32 * 1024 * 1024;
/** No route reads a body. */
const MAX_BODY_BYTES = 1_024;

export class OperationsServer {
  readonly #address: { readonly host: string; readonly port: number };
  readonly #connections = new Connections(BOUNDS, () => false);
  readonly #app: Server;

  /** @param address port 0 is any free port */
  constructor(
    address: { readonly host: string; readonly port: number },
    { routes, logger }: { readonly routes: FastifyPluginAsync; readonly logger: Logger },
  ) {
    this.#address = address;
    const connections = this.#connections;
    const app: Server = fastify({
      ...listening({}, connections),
      logger: false,
      bodyLimit: MAX_BODY_BYTES,
      clientErrorHandler: respondingToUnreadable(connections),
    });
    addOddRequests(app);
    addSlowReaders(app, connections, TAKE_TIMEOUT_MS);
    addHeldBytes(app, connections, MAX_HELD_BYTES);
    addDeadlines(app, RESPONSE_TIMEOUT_MS);
    addCommonHeaders(app);
    const methodsOf = addMethods(app);
    addFailures(app, logger, methodsOf);
    addUnknownPaths(app, methodsOf);
    app.register(routes);
    this.#app = app;
  }

  connections(): ConnectionFigures {
    return this.#connections.figures();
  }

  /** Starts to accept connections; returns the address. */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.#address;
    await this.#app.listen({ host, port });
    return this.#app.server.address() as AddressInfo;
  }

  close(): Promise<void> {
    return closeSoon(this.#app);
  }
}
