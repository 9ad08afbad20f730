/** Options of the HTTP listener, for nodes and API servers. */
import { DEFAULT_CONNECTION_BOUNDS, type HttpOptions } from "../../http/server/server.ts";
import { SECOND_MS } from "../../platform/clock/durations.ts";
import type { ServingOptions } from "./options.ts";

const RATE_LIMIT_WINDOW_MS = 60_000;

type ListenerOptions = Pick<
  ServingOptions,
  | "httpHost"
  | "httpPort"
  | "httpConnections"
  | "httpKeepAlive"
  | "poolMaxPerRequest"
  | "httpAllow"
  | "httpTrustProxy"
  | "rateLimit"
>;

export const toHttpOptions = (data: ListenerOptions): HttpOptions => ({
  host: data.httpHost,
  port: data.httpPort,
  connections: { ...DEFAULT_CONNECTION_BOUNDS, total: data.httpConnections },
  keepAliveTimeoutMs: data.httpKeepAlive * SECOND_MS,
  poolMaxPerRequest: data.poolMaxPerRequest,
  allowed: data.httpAllow,
  ...(data.httpTrustProxy !== undefined && { trustedProxies: data.httpTrustProxy }),
  ...(data.rateLimit > 0 && { rateLimit: { limit: data.rateLimit, windowMs: RATE_LIMIT_WINDOW_MS } }),
});
