/** When blocks are committed: alone, and beside webhooks that misbehave. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Delay, measureDelay } from "../forging.ts";
import type { BenchNode } from "./node.ts";

const WEBHOOKS = 1_000;

export async function measureForging(seconds: number, withLoad: boolean): Promise<Delay> {
  const target = await startMisbehaving();
  try {
    return await measureDelay(seconds, target.url, async (node) => {
      if (withLoad) await addLoad(node, target.url);
    });
  } finally {
    target.close();
  }
}

async function addLoad(node: BenchNode, target: string): Promise<void> {
  const conditions = [{ key: "id", condition: "ne", value: "" }];
  for (let index = 1; index < WEBHOOKS; index++) {
    const event = ["block.applied", "transaction.applied", "wallet.saved"][index % 3];
    await node.post("/api/webhooks", { event, target: `${target}/${index}`, conditions });
  }
}

/** Some targets answer, others never, byte by byte, without end, or by hanging up. */
async function startMisbehaving() {
  const server = createServer((request, response) => {
    const index = Number(request.url!.split("/").at(-1)) || 0;
    request.resume();
    switch (index % 10) {
      case 1:
        return;
      case 2:
        response.writeHead(200).write("x");
        setInterval(() => response.write("x"), 200).unref();
        return;
      case 3:
        response.writeHead(200).write("x".repeat(1_000_000));
        return;
      case 4:
        request.socket.destroy();
        return;
      default:
        response.writeHead(204).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
