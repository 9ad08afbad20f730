/** A small load balancer: sends each request to the next of its servers. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type RoundRobin = { readonly url: string; close(): Promise<void> };

/** @param servers base URLs */
export async function startRoundRobin(servers: readonly string[]): Promise<RoundRobin> {
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    pass(servers[turn++ % servers.length] ?? "", incoming, outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function pass(base: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url, headers } = incoming;
  const passed = request(base + url, { method, headers }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(outgoing);
  });
  passed.on("error", () => outgoing.destroy());
  incoming.pipe(passed);
}
