/**
 * Requests that end before any route or hook sees them, since they cannot be read as HTTP or do not arrive: answered in
 * the form of every failure (http-api.md 2).
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

/** For the errors of connections, which come from the parser and from the clock of the server. */
export function answerUnreadable({ code = "" }: NodeJS.ErrnoException, socket: Duplex): void {
  const [status, message] = FAILURES[code] ?? [400, "The request cannot be read as HTTP"];
  endWith(socket, status, message);
}

/** Takes what the runtime would answer by itself, without a body, or not at all. */
export function addOddRequests(app: Server): void {
  // What a client expects beside the answer may be left unmet.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  // Any other method is 404 (http-api.md 1.3).
  app.server.on("connect", (_request, socket) => endWith(socket, 404, "Not Found"));
}

function endWith(socket: Duplex, status: number, message: string): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify(errorBody(status, message));
  const headers = Object.entries({
    ...COMMON_HEADERS,
    // From which page it came was perhaps not read: each may learn that its request was wrong.
    "access-control-allow-origin": "*",
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join("")}\r\n`;
  socket.end(head + body, () => socket.destroy());
}
