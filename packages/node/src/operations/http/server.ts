/**
 * A separate listener for health and metrics, on an address that clients of the API cannot reach. Its connections have
 * their own limit, which these clients cannot use up.
 */
import type { AddressInfo } from "node:net";
import { type FastifyPluginAsync, fastify } from "fastify";
import type { Logger } from "pino";
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

export type OperationsServer = {
  readonly connections: () => ConnectionFigures;
  /** Starts to accept connections; returns the address. */
  listen(): Promise<AddressInfo>;
  close(): Promise<void>;
};

type OperationsAddress = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
};

/** Enough for a few probes and scrapers. */
const BOUNDS: ConnectionBounds = { total: 100, perClient: 25 };
const RESPONSE_TIMEOUT_MS = 8_000;
const TAKE_TIMEOUT_MS = 15_000;
const MAX_HELD_BYTES = 32 * 1024 * 1024;
/** No route reads a body. */
const MAX_BODY_BYTES = 1_024;

export function createOperationsServer(
  { host, port }: OperationsAddress,
  { routes, logger }: { readonly routes: FastifyPluginAsync; readonly logger: Logger },
): OperationsServer {
  const connections = new Connections(BOUNDS, () => false);
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
  return {
    connections: () => connections.figures(),
    async listen() {
      await app.listen({ host, port });
      return app.server.address() as AddressInfo;
    },
    close: () => closeSoon(app),
  };
}
