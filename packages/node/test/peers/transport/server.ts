/** Peer server with replies of the test's choice, and raw sockets to it. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createNetwork, presets } from "@uniknode/protocol";
import { pino } from "pino";
import { WebSocket } from "ws";
import { RateLimits } from "../../../src/peers/guards/rate-limits.ts";
import {
  PeerServer,
  type PeerServerDeps,
  type PeerServerOptions,
} from "../../../src/peers/transport/server.ts";
import { present } from "../../../src/platform/present.ts";

export const network = createNetwork(present(presets.livenet));
export const HANDSHAKE = '{"event":"#handshake","data":{"authToken":null},"cid":1}';

export type Setting = Partial<PeerServerOptions> & Partial<PeerServerDeps>;

export async function startServer(setting: Setting = {}): Promise<{ server: PeerServer; port: number }> {
  const server = new PeerServer(
    { host: "127.0.0.1", port: 0, maxConnectionsPerSubnet: 10, remoteAccess: [], ...setting },
    {
      network,
      rateLimits: new RateLimits({ eventsPerSecond: 100, exempt: new Set() }),
      handle: async () => [],
      isReady: () => true,
      replyHeaders: () => ({ version: "5.7.2", height: 6 }),
      isBanned: () => false,
      isPeer: () => false,
      logger: pino({ level: "silent" }),
      ...setting,
    },
  );
  return { server, port: await server.listen() };
}

export const callText = (event: string, data: object, cid: number) =>
  JSON.stringify({ event, data: { data, headers: {} }, cid });

/** Opens a WebSocket from a loopback address and completes its handshake. */
export async function open(port: number, localAddress = "127.0.0.1"): Promise<WebSocket> {
  const socket = webSocket(port, localAddress);
  await once(socket, "open");
  socket.send(HANDSHAKE);
  await once(socket, "message");
  return socket;
}

export const webSocket = (port: number, localAddress: string): WebSocket =>
  new WebSocket(`ws://${localAddress === "::1" ? "[::1]" : "127.0.0.1"}:${port}/socketcluster/`, {
    localAddress,
    perMessageDeflate: false,
    autoPong: false,
  }).on("error", () => {});

/** Messages until the socket is closed, and the code of the close: 1006 without a close frame. */
export async function untilClosed(socket: WebSocket): Promise<{ code: number; messages: string[] }> {
  const messages: string[] = [];
  socket.on("message", (data) => messages.push(String(data)));
  const code = await new Promise<number>((resolve) => socket.once("close", resolve));
  return { code, messages };
}

/** Returns true if a connection from an address is admitted: otherwise it is cut before its first message. */
export async function isLetIn(port: number, localAddress = "127.0.0.1"): Promise<boolean> {
  const socket = webSocket(port, localAddress);
  const isAdmitted = await new Promise<boolean>((resolve) => {
    socket.once("open", () => resolve(true));
    socket.once("close", () => resolve(false));
  });
  socket.terminate();
  return isAdmitted;
}

export async function plainSocket(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  return socket;
}
