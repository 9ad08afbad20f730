/** An honest receiver of webhooks: each block must arrive once, in order, without a gap; a reverted one is followed by another of its height. */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { EVERY_EVENT } from "@uniknode/client";
import type { Target } from "./target.ts";

export type HonestReceiver = {
  /** Returns the errors of the deliveries since the last call. */
  faults(): string[];
  /** Height of the last received block. */
  height(): number;
  close(): Promise<void>;
};

export async function startReceiver({ host, httpPort, token }: Target): Promise<HonestReceiver> {
  let faults: string[] = [];
  let last = 0;
  const seen = new Set<string>();

  function take(body: string): void {
    const { event, id, height } = JSON.parse(body) as { event: string; id: string; height: number };
    if (event === "block.reverted") {
      last = height - 1;
      return;
    }
    if (seen.has(id)) faults.push(`block ${height} was delivered twice`);
    seen.add(id);
    if (last > 0 && height !== last + 1) faults.push(`block ${height} was delivered after ${last}`);
    last = height;
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    take(Buffer.concat(chunks).toString());
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const response = await fetch(`http://${host}:${httpPort}/api/v2/webhooks`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: token },
    body: JSON.stringify({
      events: ["block.applied", "block.reverted"],
      target: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
      conditions: [EVERY_EVENT],
      order: "strict",
    }),
  });
  if (!response.ok)
    throw new Error(`failed to register the webhook: ${response.status} ${await response.text()}`);

  return {
    faults() {
      const found = faults;
      faults = [];
      return found;
    },
    height: () => last,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
