/** How a server listens: what its connections and their requests have time and room for, before any route sees them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { FastifyHttpOptions } from "fastify";
import type { Connections } from "./connections.ts";

export type ListenerOptions = {
  /** Time in which the headers of a request must have arrived, however slowly they are sent; then the client gets 408. */
  readonly headersTimeoutMs?: number;
  /** The same for a whole request. */
  readonly requestTimeoutMs?: number;
  /** Time for which nothing may move on a connection, an unread answer among it; 0 for no end. */
  readonly silenceTimeoutMs?: number;
};

const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 15_000;
/** Parts of that time after which connections are looked through for those that take longer. */
const CHECKS = 3;
const SILENCE_TIMEOUT_MS = 30_000;
/** Time for which a connection without a request stays open. */
const KEEP_ALIVE_TIMEOUT_MS = 10_000;

/** Time that running requests have when a server closes. */
const CLOSE_GRACE_MS = 1_000;

/** Options of the framework that make it listen so. */
export function listening(
  {
    headersTimeoutMs = HEADERS_TIMEOUT_MS,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    silenceTimeoutMs = SILENCE_TIMEOUT_MS,
  }: ListenerOptions,
  connections: Connections,
): Pick<FastifyHttpOptions<Server>, "serverFactory" | "forceCloseConnections"> {
  const options = {
    connectionsCheckingInterval: Math.ceil(Math.min(headersTimeoutMs, requestTimeoutMs) / CHECKS),
    // Never the longer one of both: bodies would be waited for without end.
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // Reading needs no header at all (http-api.md 1.4).
    requireHostHeader: false,
  };
  return {
    forceCloseConnections: "idle",
    serverFactory(handle) {
      const server = createServer(options, (request: IncomingMessage, response: ServerResponse) => {
        connections.begin(request.socket, response, () => handle(request, response));
      });
      server.setTimeout(silenceTimeoutMs);
      // Before the runtime reads from it.
      server.prependListener("connection", connections.admit);
      server.on("clientError", ({ code }: NodeJS.ErrnoException) => {
        if (code === "ERR_HTTP_REQUEST_TIMEOUT") connections.closedFor("late");
      });
      return server;
    },
  };
}

/** Takes no more requests, lets running ones end for a moment, and closes every connection. */
export async function closeSoon(app: {
  readonly server: Server;
  close(): PromiseLike<unknown>;
}): Promise<void> {
  // A client that neither sends nor reads does not keep the node from ending.
  const deadline = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS);
  await app.close();
  clearTimeout(deadline);
}
