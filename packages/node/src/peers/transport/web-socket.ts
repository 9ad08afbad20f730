/** The WebSocket library; the only file that loads it. */
import "./unmasking.ts";

export { type ClientOptions, type RawData, type ServerOptions, WebSocket, WebSocketServer } from "ws";
