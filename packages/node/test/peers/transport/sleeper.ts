/**
 * Peer whose process can be stopped: it still accepts connections, and reads what has arrived when it
 * resumes.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createListener, type Socket } from "node:net";
import { WebSocketServer } from "ws";

export type Sleeper = {
  readonly port: number;
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Number of connections since the start. */
  readonly connections: number;
  /** Codes of the connections that have ended after their upgrade. */
  readonly codes: readonly number[];
  /** Times at which it has read requests for peers. */
  readonly readAt: readonly number[];
  sleep(): void;
  wake(): void;
  close(): void;
};

/** Starts a stopped peer. */
export async function startSleeper(host = "127.0.0.1"): Promise<Sleeper> {
  const http = createServer();
  const sockets = new Set<Socket>();
  const served = new Set<Socket>();
  const codes: number[] = [];
  const readAt: number[] = [];
  let isAsleep = true;
  let connections = 0;
  const listener = createListener({ pauseOnConnect: true }, (socket) => {
    connections++;
    sockets.add(socket.on("error", () => {}));
    socket.on("close", () => sockets.delete(socket));
    if (!isAsleep) serve(socket);
  });
  function serve(socket: Socket): void {
    if (!served.has(socket)) http.emit("connection", socket);
    served.add(socket);
    socket.resume();
  }
  const upgrades = new WebSocketServer({ server: http, path: "/socketcluster/" });
  upgrades.on("connection", (socket) => {
    socket.on("close", (code) => codes.push(code));
    socket.on("message", (data) => {
      const { event, cid } = JSON.parse(String(data));
      if (event === "p2p.peer.getPeers") readAt.push(performance.now());
      if (event === "#handshake") socket.send('{"rid":1,"data":{"id":"x","pingTimeout":60000}}');
      else if (cid !== undefined) socket.send(JSON.stringify({ rid: cid, data: { data: [], headers: {} } }));
    });
  });
  listener.listen(0, host);
  await once(listener, "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    sockets,
    codes,
    readAt,
    get connections() {
      return connections;
    },
    sleep() {
      isAsleep = true;
      for (const socket of sockets) socket.pause();
    },
    wake() {
      isAsleep = false;
      for (const socket of sockets) serve(socket);
    },
    close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
}
