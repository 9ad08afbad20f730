/**
 * Listeners of HTTP servers, before any hook or route is called: timeouts of connections and requests, and responses to requests that are
 * not valid HTTP or do not arrive in time, which get an error body like every other failure (http-api.md 2).
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyHttpOptions } from "fastify";
import { createServer, STATUS_CODES } from "../../platform/http.ts";
import type { Server } from "../core/app.ts";
import { CODE_HEADER, errorBody, type Failure } from "../core/error.ts";
import { COMMON_HEADERS } from "../core/headers.ts";
import type { Connections } from "./connections.ts";
import { stopParsing } from "./stop-parsing.ts";

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
): Pick<FastifyHttpOptions<HttpServer>, "serverFactory" | "forceCloseConnections"> {
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
        if (!hasValidHost(request)) {
          stopParsing(request.socket);
          server.emit("clientError", INVALID_HOST, request.socket);
          return;
        }
        connections.begin(request.socket, response, () => handle(request, response));
      });
      server.setTimeout(silenceTimeoutMs);
      // Called before the runtime reads from the socket.
      server.prependListener("connection", (socket) => connections.admit(socket));
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

const NO_TUNNEL = Object.assign(new Error("a request of CONNECT"), { code: "NO_TUNNEL" });

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

const FAILURES: Readonly<Record<string, Failure>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: "REQUEST_LATE",
    message: "The request did not arrive in time",
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: "HEADERS_TOO_LONG",
    message: "The path and the headers are longer than 16 KiB",
  },
  INVALID_HOST: {
    status: 400,
    code: "INVALID_HTTP",
    message: "A request of HTTP/1.1 must have exactly one Host header, with a value",
  },
  // Methods that a path does not have are 404 (http-api.md 1.3).
  NO_TUNNEL: { status: 404, code: "METHOD_NOT_ALLOWED", message: "Not Found" },
};
const NOT_HTTP: Failure = {
  status: 400,
  code: "INVALID_HTTP",
  message: "The request is not valid HTTP",
};
/** Returns a handler of errors of connections, which come from the HTTP parser and from timeouts. */
export function respondingToUnreadable(connections: Connections) {
  /** Sockets whose failure waits for earlier responses. */
  const failing = new WeakSet<Socket>();
  return ({ code = "" }: NodeJS.ErrnoException, socket: Socket): void => {
    const failure = FAILURES[code] ?? NOT_HTTP;
    const earlier = connections.beforeFailure(socket);
    if (!earlier) endWith(socket, failure);
    // The runtime repeats the error of a request that is late.
    else if (!failing.has(socket)) earlier.once("close", () => endWith(socket, failure));
    failing.add(socket);
  };
}

/** Handles requests to which the runtime would send no body or no response. */
export function addOddRequests(app: Server): void {
  // A server may ignore expectations.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.server.on("connect", (_request, socket) => {
    // The runtime has removed its listeners: a client that resets the connection would end the process.
    socket.on("error", () => {});
    app.server.emit("clientError", NO_TUNNEL, socket);
  });
}

function endWith(socket: Duplex, failure: Failure): void {
  if (!socket.writable) return void socket.destroy();
  const { status, code } = failure;
  // The path is unknown.
  const body = JSON.stringify(errorBody(failure, ""));
  const headers = Object.entries({
    ...COMMON_HEADERS,
    // The Origin header may not have been read, so every origin may read this error.
    "access-control-allow-origin": "*",
    "content-type": "application/json; charset=utf-8",
    [CODE_HEADER]: code,
    "content-length": Buffer.byteLength(body),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join("")}\r\n`;
  socket.end(head + body, () => socket.destroy());
}

/** Stops accepting requests, waits briefly for running requests, and closes every connection. */
export async function closeSoon(app: {
  readonly server: HttpServer;
  close(): PromiseLike<unknown>;
}): Promise<void> {
  // A client that neither sends nor reads must not delay the shutdown.
  const deadline = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS);
  await app.close();
  clearTimeout(deadline);
}
