/**
 * Health and metrics on a listener of their own: for an address that clients of the API do not reach, and with connections
 * that they cannot take.
 */
import type { AddressInfo } from "node:net";
import { type FastifyPluginAsync, fastify } from "fastify";
import type { Logger } from "pino";
import type { Server } from "../app.ts";
import {
  type ConnectionBounds,
  type ConnectionFigures,
  createConnections,
} from "../transport/connections.ts";
import { addDeadlines } from "../transport/deadlines.ts";
import { addFailures } from "../transport/failures.ts";
import { addCommonHeaders } from "../transport/headers.ts";
import { addHeldBytes } from "../transport/heldBytes.ts";
import { closeSoon, listening } from "../transport/listener.ts";
import { addSlowReaders } from "../transport/slowReaders.ts";
import { addUnknownPaths } from "../transport/unknownPaths.ts";
import { addOddRequests, answerUnreadable } from "../transport/unreadable.ts";

export type OperationsServer = {
  readonly connections: () => ConnectionFigures;
  /** Starts to accept connections; the answer is where. */
  listen(): Promise<AddressInfo>;
  close(): Promise<void>;
};

export type OperationsAddress = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
};

/** A few probes and scrapers. */
const BOUNDS: ConnectionBounds = { total: 100, perClient: 25 };
const ANSWER_TIMEOUT_MS = 8_000;
const TAKE_TIMEOUT_MS = 15_000;
const MAX_HELD_BYTES = 32 * 1024 * 1024;
/** No request says anything in a body. */
const MAX_BODY_BYTES = 1_024;

export function createOperationsServer(
  { host, port }: OperationsAddress,
  { routes, logger }: { readonly routes: FastifyPluginAsync; readonly logger: Logger },
): OperationsServer {
  const connections = createConnections(BOUNDS, () => false);
  const app: Server = fastify({
    ...listening({}, connections),
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    clientErrorHandler: answerUnreadable,
  });
  addOddRequests(app);
  addSlowReaders(app, connections, TAKE_TIMEOUT_MS);
  addHeldBytes(app, connections, MAX_HELD_BYTES);
  addDeadlines(app, ANSWER_TIMEOUT_MS);
  addCommonHeaders(app);
  addFailures(app, logger);
  addUnknownPaths(app);
  app.register(routes);
  return {
    connections: connections.figures,
    async listen() {
      await app.listen({ host, port });
      return app.server.address() as AddressInfo;
    },
    close: () => closeSoon(app),
  };
}
