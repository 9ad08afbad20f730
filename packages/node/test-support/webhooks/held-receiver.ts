/** Receiver of deliveries over HTTP, which responds when the test says so. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export type ReceivedCall = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type HeldReceiver = {
  readonly url: string;
  /** All calls in the order of their arrival. */
  readonly calls: readonly ReceivedCall[];
  /** From now on, calls get no response. */
  hold(): void;
  /** Responds with 204 to the calls that were held, and to all later ones at once. */
  release(): void;
  close(): Promise<void>;
};

export async function startHeldReceiver(): Promise<HeldReceiver> {
  const calls: ReceivedCall[] = [];
  let held: ServerResponse[] | undefined;
  const server = createServer(async (request, response) => {
    const { headers, url: path = "" } = request;
    calls.push({ path, headers, body: (await buffer(request)).toString() });
    if (held) held.push(response);
    else response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    hold() {
      held ??= [];
    },
    release() {
      for (const response of held ?? []) response.writeHead(204).end();
      held = undefined;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
