/** The HTTP request that a connection begins with (p2p.md 2.1, RFC 6455 section 4). */
import { createHash } from "node:crypto";

const PATH = "/socketcluster/";
/** RFC 6455 section 1.3. */
const KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Whether a request may be upgraded, by its target: a query is ignored. */
export const isUpgradeTarget = (target: string): boolean => target.split("?", 1)[0] === PATH;

/** `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key`. */
export const acceptOf = (key: string): string =>
  createHash("sha1").update(`${key}${KEY_SUFFIX}`).digest("base64");

/** @param key 16 random bytes as base64 */
export const writeUpgradeRequest = (host: string, port: number, key: string): string =>
  lines(
    `GET ${PATH} HTTP/1.1`,
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${key}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    `Host: ${host.includes(":") ? `[${host}]` : host}:${port}`,
  );

/** The answer to a request with that key; no extension is ever accepted. */
export const writeUpgradeReply = (key: string): string =>
  lines(
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${acceptOf(key)}`,
  );

/** The answer to a request for another target; the connection ends with it. */
export const UPGRADE_REFUSAL = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

const lines = (...all: readonly string[]): string => `${all.join("\r\n")}\r\n\r\n`;
