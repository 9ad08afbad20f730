/** Node whose chain is several rounds long, with a complete fact tree. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blockToJson } from "@uniknode/protocol";
import { pino } from "pino";
import { runOptions } from "../../src/config/options.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { Growth } from "../../src/facts/growth.ts";
import { soloTiming } from "../../src/forger/slot-state.ts";
import { DEFAULT_POOL_OPTIONS } from "../../src/pool/pool-options.ts";
import { type Node, startNode } from "../../src/processes/node/node.ts";
import type { NodeDeps, NodeOptions } from "../../src/processes/node/node-options.ts";
import { ServingThread } from "../../src/processes/serving/thread.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { AS_IT_BEGINS, createForkingChain, dev, network } from "../chain/forking.ts";
import { until } from "../process/until.ts";

export type ServedChain = Awaited<ReturnType<typeof servedChain>>;

const BLOCKS = 30;

/** Node without forger over a data folder. */
export function serveFolder(
  data: string,
  options: Partial<NodeOptions> = {},
  deps: Partial<NodeDeps> = {},
): Promise<Node> {
  const flags = { data, httpPort: 0, rateLimit: 0, logLevel: "silent", webhookPrivateTargets: true };
  return startNode(
    {
      ...resolveConfig(runOptions, { flags, environment: {} }),
      assumeValid: undefined,
      delegates: new Map(),
      peers: undefined,
      pool: DEFAULT_POOL_OPTIONS,
      signingRecord: undefined,
      watchRounds: undefined,
      timing: soloTiming,
      isOnDemand: false,
      ...options,
    },
    {
      files: dev.files,
      genesis: dev.block,
      genesisBlock: blockToJson(dev.block),
      nowMs: Date.now,
      logger: pino({ level: "silent" }),
      servingThread: new ServingThread(),
      ...deps,
    },
  );
}

/** Creates a chain in a new data folder, with its fact tree. */
export async function makeFolder(blocks = BLOCKS): Promise<string> {
  const data = mkdtempSync(join(tmpdir(), "uniknode-facts-"));
  const { forge, transfer, close } = createForkingChain(join(data, "node.sqlite"), {
    ...AS_IT_BEGINS,
    isWithinTest: false,
  });
  await forge();
  for (let index = 1; index < blocks; index++) {
    await forge(Array.from({ length: index % 5 }, (_, sender) => transfer(sender, BigInt(index))));
  }
  await close();
  const database = openDatabase(join(data, "node.sqlite"));
  const growth = new Growth({ database, network, onTruncated: () => {} });
  while (growth.step(Number.POSITIVE_INFINITY));
  database.close();
  return data;
}

/** Waits until the fact tree of a node contains all final blocks. */
export const treeOf = (url: string, height: number): Promise<{ size: number; root: string }> =>
  until(`the tree of ${url} does not contain block ${height}`, async () => {
    const response = await fetch(`${url}/api/v2/facts/checkpoint`, {
      headers: { accept: "application/json" },
    });
    const { data } = (await response.json()) as { data: { size: number; root: string; height: number } };
    return data.height >= height && data;
  });

export async function servedChain() {
  const data = await makeFolder();
  const node = await serveFolder(data);
  const head = node.head().height;
  const depth = 2 * network.milestoneAt(head).activeDelegates;
  await treeOf(node.url, head - depth);
  return {
    url: node.url,
    head,
    depth,
    nethash: network.description.nethash,
    async stop() {
      await node.stop();
      rmSync(data, { recursive: true });
    },
  };
}
