/** Listeners of nodes and API servers: options of the API, and health and metrics on the same listener or on a separate one. */
import type { Logger } from "pino";
import type { HttpOptions, HttpServer } from "../../http/server/server.ts";
import type { Access } from "../../http/webhooks/access.ts";
import { createOperationRoutes, type Operations, OperationsServer } from "../../operations/http/server.ts";
import { SECOND_MS } from "../../platform/clock/durations.ts";
import type { ServingOptions } from "./served-data.ts";

const RATE_LIMIT_WINDOW_MS = 60_000;

type ListenerOptions = Pick<
  ServingOptions,
  | "httpHost"
  | "httpPort"
  | "httpKeepAlive"
  | "poolMaxPerRequest"
  | "httpAllow"
  | "httpTrustProxy"
  | "rateLimit"
>;

export const toHttpOptions = (data: ListenerOptions): HttpOptions => ({
  host: data.httpHost,
  port: data.httpPort,
  keepAliveTimeoutMs: data.httpKeepAlive * SECOND_MS,
  poolMaxPerRequest: data.poolMaxPerRequest,
  allowed: data.httpAllow,
  ...(data.httpTrustProxy !== undefined && { trustedProxies: data.httpTrustProxy }),
  ...(data.rateLimit > 0 && { rateLimit: { limit: data.rateLimit, windowMs: RATE_LIMIT_WINDOW_MS } }),
});

type OperationsListenerDeps = {
  readonly operations: Operations;
  readonly byToken: Access;
  readonly logger: Logger;
};

/** Adds health and metrics to the API, or returns a separate listener for them. */
export function buildOperationsListener(
  {
    metricsPublic,
    operationsHost: host,
    operationsPort: port,
  }: Pick<ServingOptions, "metricsPublic" | "operationsHost" | "operationsPort">,
  { operations, byToken, logger }: OperationsListenerDeps,
  server: HttpServer,
): OperationsServer | undefined {
  const routes = createOperationRoutes(metricsPublic ? undefined : byToken, operations);
  if (port !== undefined) return new OperationsServer({ host, port }, { routes, logger });
  server.app.register(routes);
  return undefined;
}
