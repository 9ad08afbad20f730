/** Health and metrics of a serving process, on the listener of the API or on a separate one. */
import type { Logger } from "pino";
import type { HttpServer } from "../../http/server/server.ts";
import type { Access } from "../../http/webhooks/access.ts";
import { createOperationRoutes, type Operations } from "../../operations/http/routes.ts";
import { createOperationsServer, type OperationsServer } from "../../operations/http/server.ts";
import type { ServingOptions } from "./options.ts";

export type OperationsListenerDeps = {
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
  if (port !== undefined) return createOperationsServer({ host, port }, { routes, logger });
  server.app.register(routes);
  return undefined;
}
