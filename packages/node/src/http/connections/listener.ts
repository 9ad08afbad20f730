/** Listeners of HTTP servers: timeouts of connections and requests, before any route is called. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { FastifyHttpOptions } from "fastify";
import { createServer } from "../../platform/http.ts";
import type { Connections } from "./connections.ts";
import { stopParsing } from "./stop-parsing.ts";
import { openExchanges } from "./unreadable.ts";

export type ListenerOptions = {
  /** Timeout for the headers of a request, after which the client gets 408. */
  readonly headersTimeoutMs?: number;
  /** Timeout for a complete request, after which the client gets 408. */
  readonly requestTimeoutMs?: number;
  /** Time without activity after which a connection is closed, even with an unread response; 0 for no timeout. */
  readonly silenceTimeoutMs?: number;
  /** Time for which a connection without a request stays open. */
  readonly keepAliveTimeoutMs?: number;
};

const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 15_000;
/** Number of checks of all connections within the shorter of these timeouts. */
const CHECKS = 3;
const SILENCE_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 10_000;

/** Time that running requests have when a server closes. */
const CLOSE_GRACE_MS = 1_000;

/** Returns the fastify options of such a listener. */
export function listening(
  {
    headersTimeoutMs = HEADERS_TIMEOUT_MS,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    silenceTimeoutMs = SILENCE_TIMEOUT_MS,
    keepAliveTimeoutMs = KEEP_ALIVE_TIMEOUT_MS,
  }: ListenerOptions,
  connections: Connections,
): Pick<FastifyHttpOptions<Server>, "serverFactory" | "forceCloseConnections"> {
  const options = {
    connectionsCheckingInterval: Math.ceil(Math.min(headersTimeoutMs, requestTimeoutMs) / CHECKS),
    // Never longer than the request timeout: bodies would then have no timeout.
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // Otherwise the runtime refuses a request without the body of other failures.
    requireHostHeader: false,
  };
  return {
    forceCloseConnections: "idle",
    serverFactory(handle) {
      const server = createServer(options, (request: IncomingMessage, response: ServerResponse) => {
        const exchanges = openExchanges(request.socket);
        if (!hasValidHost(request)) {
          stopParsing(request.socket);
          server.emit("clientError", INVALID_HOST, request.socket);
          return;
        }
        exchanges.add(request, response);
        connections.begin(request.socket, response, () => handle(request, response));
      });
      server.setTimeout(silenceTimeoutMs);
      // Called before the runtime reads from the socket.
      server.prependListener("connection", connections.admit);
      server.on("clientError", ({ code }: NodeJS.ErrnoException) => {
        if (code === "ERR_HTTP_REQUEST_TIMEOUT") connections.closedFor("late");
      });
      return server;
    },
  };
}

/** Passed to the listeners of `clientError`, as the errors of the parser. */
const INVALID_HOST = Object.assign(new Error("not exactly one Host header with a value"), {
  code: "INVALID_HOST",
});

/**
 * HTTP/1.1 requires one `Host`, which is empty only for a URI without an authority, and this server has no such URI.
 * With several headers, a proxy and a server can pick different hosts, and disagree about the request.
 */
function hasValidHost({ rawHeaders, httpVersion, headers }: IncomingMessage): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === "host") count += 1;
  }
  if (httpVersion === "1.0") return count <= 1;
  return count === 1 && headers.host?.trim() !== "";
}

/** Stops accepting requests, waits briefly for running requests, and closes every connection. */
export async function closeSoon(app: {
  readonly server: Server;
  close(): PromiseLike<unknown>;
}): Promise<void> {
  // A client that neither sends nor reads must not delay the shutdown.
  const deadline = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS);
  await app.close();
  clearTimeout(deadline);
}
