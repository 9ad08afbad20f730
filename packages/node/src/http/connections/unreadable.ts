/**
 * Requests that fail before any hook or route, because they are not valid HTTP or do not arrive in time. They get an error
 * body like every other failure (http-api.md 2).
 */
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Server } from "../server/app.ts";
import { errorBody } from "../server/error.ts";
import { COMMON_HEADERS } from "../server/headers.ts";

const FAILURES: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time"],
  HPE_HEADER_OVERFLOW: [431, "The path and the headers are too long"],
};

/** Handles errors of connections, which come from the HTTP parser and from timeouts. */
export function answerUnreadable({ code = "" }: NodeJS.ErrnoException, socket: Duplex): void {
  const [status, message] = FAILURES[code] ?? [400, "The request cannot be read as HTTP"];
  endWith(socket, status, message);
}

/** Handles requests that the runtime would answer without a body, or not at all. */
export function addOddRequests(app: Server): void {
  // A server may ignore expectations.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  // Any other method is 404 (http-api.md 1.3).
  app.server.on("connect", (_request, socket) => endWith(socket, 404, "Not Found"));
}

function endWith(socket: Duplex, status: number, message: string): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify(errorBody(status, message));
  const headers = Object.entries({
    ...COMMON_HEADERS,
    // The Origin header may not have been read, so every origin may read this error.
    "access-control-allow-origin": "*",
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join("")}\r\n`;
  socket.end(head + body, () => socket.destroy());
}
