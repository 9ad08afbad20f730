/** Connections as hostile clients use them. */
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { present } from "../../src/platform/present.ts";
import { WAIT_MS } from "../process/until.ts";

/** Opens a connection from a loopback address, which the server may close. */
export async function connectFrom(localAddress: string, port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  return socket;
}

/** Opens many connections, each of which has sent the beginning of a request. */
export async function occupy(
  port: number,
  { from, count, send }: { readonly from: string; readonly count: number; readonly send: string },
): Promise<{ readonly sockets: readonly Socket[]; close(): void }> {
  const sockets: Socket[] = [];
  // As many at once as the listener's backlog accepts.
  const BATCH = 100;
  while (sockets.length < count) {
    const size = Math.min(BATCH, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: size }, () => connectFrom(from, port)))));
  }
  for (const socket of sockets) socket.resume().write(send);
  return { sockets, close: () => sockets.forEach((socket) => void socket.destroy()) };
}

/** Returns the status of a response on its own connection. */
export async function statusFrom(
  localAddress: string,
  port: number,
  path: string,
): Promise<{ readonly status: number }> {
  const request = get({ port, host: "127.0.0.1", localAddress, path, agent: false, timeout: WAIT_MS });
  request.on("timeout", () => request.destroy(new Error(`no response to ${path}`)));
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return { status: present(response.statusCode) };
}
