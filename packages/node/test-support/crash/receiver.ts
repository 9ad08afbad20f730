/** Webhook receiver that records the deliveries. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Receiver = {
  readonly url: string;
  /** Delivery ids by fact: the event's name with the id of its block or transaction. */
  readonly arrived: ReadonlyMap<string, ReadonlySet<string>>;
  /** Number of requests. */
  readonly requests: () => number;
  close(): Promise<void>;
};

/** Name of a fact, to compare events with deliveries. */
export const factOf = (event: string, id: string): string => `${event} ${id}`;

export async function startReceiver(): Promise<Receiver> {
  const arrived = new Map<string, Set<string>>();
  let requests = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { event, data } = JSON.parse(Buffer.concat(chunks).toString()) as {
      event: string;
      data: { id: string };
    };
    const fact = factOf(event, data.id);
    const ids = arrived.get(fact) ?? new Set();
    arrived.set(fact, ids.add(String(request.headers["webhook-id"])));
    requests++;
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    arrived,
    requests: () => requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
