/** Commit times of blocks, relative to the start of their slots, while a node has other work. */

import { setTimeout as sleep } from "node:timers/promises";
import { EVERY_EVENT } from "@uniknode/client";
import { deriveAccounts } from "../../packages/node/src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../packages/node/src/dev-chain/network.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { transferOf } from "../../packages/node/test-support/process/client.ts";
import { type BenchNode, percentile, startBenchNode } from "./node.ts";

const MNEMONIC = "test test test test test test test test test test test junk";

export type DelayOptions = {
  readonly seconds: number;
  readonly transfersPerSecond: number;
  /** Target of a webhook for blocks, so that the event log contains their commit times. */
  readonly target: string;
};

/** Percentiles of the delay, with the maximum instead of the 99th percentile, because there are few blocks. */
export type Delay = {
  readonly blocks: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly maxMs: number;
};

export async function measureDelay(
  { seconds, transfersPerSecond, target }: DelayOptions,
  load: (node: BenchNode) => Promise<void>,
): Promise<Delay> {
  const node = await startBenchNode();
  try {
    const conditions = [EVERY_EVENT];
    await node.post("/api/webhooks", { event: "block.applied", target, conditions });
    await load(node);
    const firstHeight = await height(node);
    const slots = new Map<number, number>();
    const endMs = performance.now() + seconds * 1_000;
    for (let nonce = 2n; performance.now() < endMs; nonce++) {
      await submit(node, nonce);
      await sleep(1_000 / transfersPerSecond);
    }
    for (const block of await blocks(node)) slots.set(block.height, block.timestamp.unix * 1_000);
    await node.stop();
    const delays = [...node.commits()]
      .filter(([height]) => height > firstHeight && slots.has(height))
      .map(([height, atMs]) => atMs - present(slots.get(height)));
    return {
      blocks: delays.length,
      p50Ms: percentile(delays, 0.5),
      p90Ms: percentile(delays, 0.9),
      maxMs: Math.max(...delays),
    };
  } finally {
    await node.stop();
    node.remove();
  }
}

type ShownBlock = { height: number; timestamp: { unix: number } };
const blocks = async ({ client }: BenchNode) =>
  (await client.get("/api/v2/blocks?limit=100")) as ShownBlock[];
const height = async (node: BenchNode) => present((await blocks(node))[0]).height;

const accountNamed = deriveAccounts(MNEMONIC, DEV_ADDRESS_VERSION);
const [alice, bob] = [accountNamed("account 0"), accountNamed("account 1")];

async function submit({ client }: BenchNode, nonce: bigint): Promise<void> {
  await client.submit([transferOf(client.network, alice, bob.address, nonce)]);
}
