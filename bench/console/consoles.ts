/** Speed of the API while consoles are open: each has a live stream, and fetches the head after every block. */
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@uniknode/client";
import type { DevNode } from "../../packages/console/test-support/dev-node.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { shoot } from "../api/load.ts";
import { percentile } from "../node/node.ts";

const median = (numbers: readonly number[]): number => percentile(numbers, 0.5);
const ROUNDS = 3;
const CONNECTIONS = 32;
const BLOCK_MS = 2_000;

export type ConsolesOptions = { readonly consoles: number; readonly seconds: number };

export async function measureApi(node: DevNode, { consoles, seconds }: ConsolesOptions): Promise<void> {
  const { data: block } = await node.client.blocks.last();
  const requests = [{ path: `/api/v2/blocks/${block.id}`, method: "GET" as const }];
  const port = Number(new URL(node.url).port);
  const rates: Record<"closed" | "open", number[]> = { closed: [], open: [] };
  const costs: Record<"closed" | "open", number[]> = { closed: [], open: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const state of ["closed", "open"] as const) {
      const ended = new AbortController();
      const signedIn = state === "open" ? await openConsoles(node, consoles, ended.signal) : [];
      const mining = mine(node, ended.signal);
      const before = await processorSeconds(node);
      const { perSecond, responses, failed } = await shoot(port, requests, {
        connections: CONNECTIONS,
        seconds,
      });
      if (failed > 0) throw new Error(`${failed} requests failed`);
      rates[state].push(perSecond);
      costs[state].push((1e6 * ((await processorSeconds(node)) - before)) / responses);
      ended.abort();
      await Promise.all([mining, ...signedIn]);
    }
  }
  const [closed, open] = [median(rates.closed), median(rates.open)];
  const [costClosed, costOpen] = [median(costs.closed), median(costs.open)];
  console.log(
    `GET /blocks/ID with a block every ${BLOCK_MS / 1_000} s, alternating, medians of ${ROUNDS} rounds; this process is the client and all consoles`,
  );
  console.log(
    `  requests per second: ${closed.toFixed(0)} without consoles, ${open.toFixed(0)} with ${consoles}`,
  );
  console.log(
    `  CPU time of the node per request, including the consoles: ${costClosed.toFixed(1)} and ${costOpen.toFixed(1)} microseconds`,
  );
}

/** CPU time of all threads of the node since its start. */
async function processorSeconds(node: DevNode): Promise<number> {
  const response = await fetch(`${node.url}/metrics`, { headers: { authorization: node.token } });
  return Number(present(/^uniknode_process_cpu_seconds_total (\S+)$/m.exec(await response.text()))[1]);
}

async function mine(node: DevNode, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await node.client.dev.mine();
    await sleep(BLOCK_MS, undefined, { signal }).catch(() => {});
  }
}

/** Settles when the streams are open; each promise settles when its console is closed. */
async function openConsoles(node: DevNode, count: number, signal: AbortSignal): Promise<Promise<void>[]> {
  const consoles = Array.from({ length: count }, () => runConsole(node, signal));
  await sleep(1_000);
  return consoles;
}

/** Sends the requests of the page (data/feed.ts of the console) without the page. */
async function runConsole(node: DevNode, signal: AbortSignal): Promise<void> {
  const api = createClient({ url: node.url, webhookToken: node.token });
  try {
    for await (const _ of api.events.stream({ events: ["block.applied", "block.reverted"], signal })) {
      await api.node.syncing();
      await Promise.all([api.blocks.list().page({ limit: 30 }), api.node.status()]);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
