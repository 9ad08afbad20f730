/**
 * Listeners of nodes and API servers: options of the API; the clients that may use its protected routes, by token or by a session of the
 * console; the console; and health and metrics on the same listener or on a separate one.
 */
import type { Logger } from "pino";
import { createSessionAccess } from "../../http/console/access.ts";
import type { ConsoleDependencies, ConsoleOptions } from "../../http/console/console.ts";
import { readConsoleFiles } from "../../http/console/files.ts";
import { Sessions, type SessionsDependencies } from "../../http/console/sessions.ts";
import type { HttpOptions, HttpServer } from "../../http/server/server.ts";
import { type Access, createAccess, createTokenTest, type TokenTest } from "../../http/webhooks/access.ts";
import { createOperationRoutes, type Operations, OperationsServer } from "../../operations/http/server.ts";
import { SECOND_MS } from "../../platform/clock/durations.ts";
import { programVersion } from "../../platform/lifecycle/program.ts";
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

export type AccessChecks = {
  /** Names of this machine that callers without token may use as Host. */
  readonly hosts: readonly string[];
  readonly isToken: TokenTest;
  readonly byToken: Access;
  readonly sessions: Sessions;
  readonly bySession: Access;
};

/** @param storage of the console's sessions; undefined: they end with the process */
export function buildAccess(
  token: string,
  { httpHost, httpHosts }: Pick<ServingOptions, "httpHost" | "httpHosts">,
  storage?: SessionsDependencies["storage"],
): AccessChecks {
  const hosts = [httpHost, ...httpHosts];
  const sessions = new Sessions({ nowMs: Date.now, token, storage });
  return {
    hosts,
    isToken: createTokenTest(token),
    byToken: createAccess({ token }),
    sessions,
    bySession: createSessionAccess(sessions, hosts, Date.now),
  };
}

/** @param operations the routes that require the token elsewhere, for sessions of the console */
export const buildConsole = (
  { hosts, sessions, isToken, byToken }: AccessChecks,
  node: Omit<ConsoleOptions["node"], "version">,
  operations: ConsoleDependencies["operations"],
): ConsoleOptions & ConsoleDependencies => ({
  hosts,
  node: { ...node, version: programVersion() },
  readFiles: readConsoleFiles,
  sessions,
  isToken,
  access: byToken,
  nowMs: Date.now,
  operations,
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
