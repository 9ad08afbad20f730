/**
 * What servers take of `node:http`. An import of it reads all of its exports, and one of them, the WebSocket of clients, loads the
 * HTTP client of the runtime: 35 ms of every thread's start.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");
