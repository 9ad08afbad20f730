/** Commit times of blocks: idle, and under maximum API load. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Delay, measureDelay } from "../node/commit-delay.ts";
import type { BenchNode } from "../node/node.ts";
import { shoot } from "./load.ts";

/** Variants of a request, so that few responses are cached. */
const VARIANTS = 200;
/** Transactions posted per second in addition. */
const TRANSFERS = 20;

export type LoadedDelay = Delay & { readonly perSecond: number };

/** @param connections 0 for an idle API */
export async function measureForging(seconds: number, connections: number): Promise<LoadedDelay> {
  const listener = createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  let perSecond = Promise.resolve(0);
  try {
    const target = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
    const delay = await measureDelay({ seconds, transfersPerSecond: TRANSFERS, target }, async (node) => {
      if (connections > 0) perSecond = saturate(node, { connections, seconds });
    });
    return { ...delay, perSecond: await perSecond };
  } finally {
    listener.closeAllConnections();
    listener.close();
  }
}

async function saturate({ url }: BenchNode, load: { connections: number; seconds: number }): Promise<number> {
  const paths = ["transactions", "blocks", "wallets", "delegates", "uniks", "blocks/1", "blockchain"];
  const requests = Array.from({ length: VARIANTS }, (_, index) =>
    paths.map((path) => ({ method: "GET" as const, path: `/api/v2/${path}?=${"&".repeat(index)}` })),
  ).flat();
  return (await shoot(Number(new URL(url).port), requests, load)).perSecond;
}
