/**
 * Requests that fail before any hook or route, because they are not valid HTTP or do not arrive in time. They get an error
 * body like every other failure (http-api.md 2).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { STATUS_CODES } from "../../platform/http.ts";
import type { Server } from "../core/app.ts";
import { CODE_HEADER, errorBody, type Failure } from "../core/error.ts";
import { COMMON_HEADERS } from "../core/headers.ts";

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** The requests of a connection that have no complete response yet: clients can send the next request before it. */
type OpenExchanges = {
  add(request: IncomingMessage, response: ServerResponse): void;
  /**
   * Returns the open response that the failure of the connection must follow, if any. The request that fails has an
   * incomplete body, or could not be parsed.
   */
  beforeFailure(): ServerResponse | undefined;
};

const exchangesOf = new WeakMap<Duplex, OpenExchanges>();

export function openExchanges(socket: Duplex): OpenExchanges {
  const known = exchangesOf.get(socket) ?? createExchanges();
  exchangesOf.set(socket, known);
  return known;
}

function createExchanges(): OpenExchanges {
  const open: Exchange[] = [];
  return {
    add(request, response) {
      const exchange = { request, response };
      open.push(exchange);
      response.once("close", () => void open.splice(open.indexOf(exchange), 1));
    },
    beforeFailure: () => open.findLast(({ request }) => request.complete)?.response,
  };
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
};
const NOT_HTTP: Failure = {
  status: 400,
  code: "INVALID_HTTP",
  message: "The request is not valid HTTP",
};
/** Failure of CONNECT requests: methods that a path does not have are 404 (http-api.md 1.3). */
const NO_TUNNEL: Failure = { status: 404, code: "METHOD_NOT_ALLOWED", message: "Not Found" };

/** Handles errors of connections, which come from the HTTP parser and from timeouts. */
export function respondToUnreadable({ code = "" }: NodeJS.ErrnoException, socket: Duplex): void {
  const failure = FAILURES[code] ?? NOT_HTTP;
  const earlier = openExchanges(socket).beforeFailure();
  if (!earlier) endWith(socket, failure);
  // The runtime repeats the error of a request that is late.
  else if (!failing.has(socket)) earlier.once("close", () => endWith(socket, failure));
  failing.add(socket);
}

/** Sockets whose failure waits for earlier responses. */
const failing = new WeakSet<Duplex>();

/** Handles requests to which the runtime would send no body or no response. */
export function addOddRequests(app: Server): void {
  // A server may ignore expectations.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.server.on("connect", (_request, socket) => endWith(socket, NO_TUNNEL));
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
