/** Time from the commit of a block to the first byte of its deliveries at the receiver, through the real process. */

import { setTimeout as sleep } from "node:timers/promises";
import { EVERY_EVENT } from "@uniknode/client";
import { present } from "../../packages/node/src/platform/present.ts";
import { percentile, startBenchNode } from "../node/node.ts";
import { startReceiver } from "./receiver.ts";

const MATCHES = 10;
const BLOCK_PAUSE_MS = 50;

export type Latency = { readonly samples: number; readonly p50Ms: number; readonly p99Ms: number };

/** Most webhooks subscribe to blocks or transactions, with conditions that are never true. */
export async function measureLatency(webhookCount: number, blockCount: number): Promise<Latency> {
  const receiver = await startReceiver();
  const node = await startBenchNode();
  try {
    await node.post("/api/dev/forge", { enabled: false });
    for (let index = 0; index < webhookCount; index++) {
      const conditions =
        index < MATCHES
          ? [EVERY_EVENT]
          : [{ key: "height", condition: "eq", value: `${1_000_000_000 + index}` }];
      const event = index % 2 === 0 || index < MATCHES ? "block.applied" : "transaction.applied";
      await node.post("/api/webhooks", { event, target: receiver.url, conditions });
    }
    const arrivals: (readonly [string, number])[] = [];
    for (let block = 0; block < blockCount; block++) {
      await node.post("/api/dev/mine", { blocks: 1 });
      await sleep(BLOCK_PAUSE_MS);
    }
    while (arrivals.length < blockCount * MATCHES) {
      await sleep(100);
      arrivals.push(...(await receiver.arrivals()));
    }
    await node.stop();
    const commits = node.commits();
    const heights = node.heights();
    // The clock of the log counts whole milliseconds.
    const delays = arrivals.map(([id, atMs]) =>
      Math.max(0, atMs - present(commits.get(present(heights.get(id))))),
    );
    return {
      samples: delays.length,
      p50Ms: percentile(delays, 0.5),
      p99Ms: percentile(delays, 0.99),
    };
  } finally {
    await node.stop();
    node.remove();
    await receiver.close();
  }
}
