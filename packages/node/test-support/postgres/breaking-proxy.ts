/** A proxy in front of a database that breaks one connection, at a statement. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type BreakingProxy = {
  /** URL of the database through the proxy. */
  readonly url: string;
  hasBroken(): boolean;
  close(): void;
};

/** Breaks the first connection on which a client sends the text. */
export async function startBreakingProxy(databaseUrl: string, text: string): Promise<BreakingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let hasBroken = false;
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => [client, database].forEach((each) => void each.destroy()));
    }
    database.pipe(client);
    client.on("data", (bytes) => {
      if (hasBroken || !bytes.includes(text)) return void database.write(bytes);
      hasBroken = true;
      client.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    hasBroken: () => hasBroken,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
