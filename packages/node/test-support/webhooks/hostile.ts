/** Receivers with every kind of misbehaviour, and one that behaves well. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Responds on a connection on which the first bytes have arrived. */
type Behaviour = (socket: Socket) => void;

const RESPONSE = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

export const HOSTILE: Readonly<Record<string, Behaviour>> = {
  "never responds": () => {},
  "responds byte by byte"(socket) {
    let sent = 0;
    const timer = setInterval(() => socket.write(RESPONSE[sent++ % 17] ?? "x"), 100);
    socket.on("close", () => clearInterval(timer));
  },
  "never ends its response"(socket) {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    const chunk = `400\r\n${"x".repeat(1_024)}\r\n`;
    const timer = setInterval(() => socket.write(chunk), 5);
    socket.on("close", () => clearInterval(timer));
  },
  "resets at once": (socket) => void socket.resetAndDestroy(),
  "responds with nonsense": (socket) => void socket.end("what do you want?\r\n\r\n"),
  "responds with too many headers": (socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\n${"x-a: ".padEnd(100, "y")}\r\n`.repeat(2_000)),
};

/** Address of a receiver with this behaviour. */
export async function listen(behave: Behaviour) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.once("data", () => behave(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Receiver that responds to everything at once, and counts. */
export async function good() {
  const seen = { count: 0 };
  const target = await listen((socket) => {
    const respond = () => {
      seen.count++;
      socket.write(RESPONSE);
    };
    respond();
    socket.on("data", (chunk) => {
      if (chunk.includes("POST ")) respond();
    });
  });
  return { seen, target };
}
