/** Sends a frame to itself; prints whether it arrived, and whether the native addon unmasked it. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fault } from "../../../src/peers/transport/unmasking.ts";
import { WebSocket, WebSocketServer } from "../../../src/peers/transport/web-socket.ts";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
server.on("connection", (socket) => socket.on("message", (data) => socket.send(data)));
await once(server, "listening");
const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
await once(client, "open");
const sent = Buffer.alloc(100_000, "uniknode");
client.send(sent);
const [received] = await once(client, "message");
const { sharedObjects } = process.report.getReport() as { sharedObjects: string[] };
const isNative = sharedObjects.some((path) => path.endsWith("bufferutil.node"));
process.stdout.write(JSON.stringify({ isEqual: sent.equals(received), isNative, fault: fault ?? null }));
client.terminate();
server.close();
