/**
 * The parts of `node:http` that servers use. Importing it reads all of its exports, and one of them, the
 * WebSocket client, loads the runtime's HTTP client: 35 ms at the start of every thread.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");
