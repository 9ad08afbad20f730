/** Commit times of blocks: idle, with misbehaving webhooks, and with load outside the node. */

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import { EVERY_EVENT } from "@uniknode/client";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Delay, measureDelay } from "../node/commit-delay.ts";
import type { BenchNode } from "../node/node.ts";

/** Load of the machine while blocks are forged. */
export type Load = "nothing else" | "processes that compute" | "webhooks";
export type ForgingOptions = {
  readonly seconds: number;
  readonly transfersPerSecond: number;
  readonly load: Load;
};
/** Commit times, and the calls per second that webhook targets received. */
export type DelayBeside = Delay & { readonly callsPerSecond: number };

const WEBHOOKS = 1_000;

export async function measureForging(options: ForgingOptions): Promise<DelayBeside> {
  const target = await startMisbehaving();
  const processes = options.load === "processes that compute" ? compute() : [];
  try {
    const delay = await measureDelay({ ...options, target: target.url }, async (node) => {
      if (options.load === "webhooks") await addWebhooks(node, target.url);
    });
    return { ...delay, callsPerSecond: target.calls() / options.seconds };
  } finally {
    for (const process of processes) process.kill();
    target.close();
  }
}

/** Keeps all processors busy outside the node. */
const compute = () =>
  Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ["--eval", "for (;;);"]));

async function addWebhooks(node: BenchNode, target: string): Promise<void> {
  const conditions = [EVERY_EVENT];
  for (let index = 1; index < WEBHOOKS; index++) {
    const event = ["block.applied", "transaction.applied", "wallet.saved"][index % 3];
    await node.post("/api/webhooks", { event, target: `${target}/${index}`, conditions });
  }
}

/** Targets that respond, never respond, respond byte by byte or endlessly, or hang up. */
async function startMisbehaving() {
  let calls = 0;
  const server = createServer((request, response) => {
    calls++;
    const index = Number(present(request.url).split("/").at(-1)) || 0;
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
    calls: () => calls,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
