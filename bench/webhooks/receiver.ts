/**
 * Receiver in a separate process, so that it uses no time of the sender. It responds with 204 and records when each delivery
 * began to arrive.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";

/** A received delivery: `webhook-id`, and time of the first byte in milliseconds since 1970, with fractions. */
export type Arrival = readonly [id: string, atMs: number];

export type Receiver = {
  readonly url: string;
  /** Returns the deliveries received since the last call. */
  arrivals(): Promise<Arrival[]>;
  close(): Promise<void>;
};

type FromReceiver = { readonly port: number } | { readonly arrivals: Arrival[] };

/** `responseDelayMs`: delay of each response. */
export async function startReceiver(responseDelayMs = 0): Promise<Receiver> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), ["listen", String(responseDelayMs)]);
  const next = async () => (await once(child, "message"))[0] as FromReceiver;
  const first = await next();
  if (!("port" in first)) throw new Error("the receiver does not listen");
  return {
    url: `http://127.0.0.1:${first.port}/hook`,
    async arrivals() {
      child.send("arrivals");
      const message = await next();
      return "arrivals" in message ? message.arrivals : [];
    },
    async close() {
      child.disconnect();
      await once(child, "exit");
    },
  };
}

/**
 * Implements only as much HTTP as the deliveries need, on bare sockets: a complete server would cost about as much as the
 * sender, which is what this measures.
 */
function listen(responseDelayMs: number): void {
  let arrivals: Arrival[] = [];
  const server = createServer((socket) => {
    let text = "";
    let beganMs = 0;
    const respond = () => void (socket.writable && socket.write("HTTP/1.1 204 No Content\r\n\r\n"));
    socket.setNoDelay().setEncoding("latin1");
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      if (text === "") beganMs = performance.timeOrigin + performance.now();
      text += chunk;
      const bodyAt = text.indexOf("\r\n\r\n") + 4;
      if (bodyAt < 4 || text.length - bodyAt < Number(headerOf(text, "content-length"))) return;
      arrivals.push([headerOf(text, "webhook-id"), beganMs]);
      // The sender sends the next request after the response.
      text = "";
      if (responseDelayMs === 0) respond();
      else setTimeout(respond, responseDelayMs);
    });
  });
  const send = (message: FromReceiver) => void process.send?.(message);
  server.listen(0, "127.0.0.1", () => send({ port: (server.address() as AddressInfo).port }));
  process.on("message", () => {
    send({ arrivals });
    arrivals = [];
  });
  process.on("disconnect", () => process.exit(0));
}

function headerOf(text: string, name: string): string {
  const at = text.indexOf(`\r\n${name}: `) + name.length + 4;
  return at < name.length + 4 ? "" : text.slice(at, text.indexOf("\r\n", at));
}

if (process.argv[2] === "listen") listen(Number(process.argv[3]));
