/** When blocks are committed, counted from the beginning of their slots: alone, and beside webhooks that misbehave. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { peopleOf } from "../../packages/node/src/dev/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../packages/node/src/dev/network.ts";
import { transferOf } from "../../packages/node/test/process/client.ts";
import { type BenchNode, percentile, startBenchNode } from "./node.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
/** Transfers a second, in both cases. */
const TRANSFERS = 20;
const WEBHOOKS = 1_000;

export type Delay = { readonly blocks: number; readonly p50Ms: number; readonly p99Ms: number };

export async function measureForging(seconds: number, withLoad: boolean): Promise<Delay> {
  const target = await startMisbehaving();
  const node = await startBenchNode();
  try {
    const always = [{ key: "id", condition: "ne", value: "" }];
    await node.post("/api/webhooks", { event: "block.applied", target: target.url, conditions: always });
    if (withLoad) await addLoad(node, target.url, always);
    const firstHeight = await height(node);
    const slots = new Map<number, number>();
    const endMs = performance.now() + seconds * 1_000;
    for (let nonce = 2n; performance.now() < endMs; nonce++) {
      await submit(node, nonce);
      await sleep(1_000 / TRANSFERS);
    }
    for (const block of await blocks(node)) slots.set(block.height, block.timestamp.unix * 1_000);
    await node.stop();
    const delays = [...node.commits()]
      .filter(([height]) => height > firstHeight && slots.has(height))
      .map(([height, atMs]) => atMs - slots.get(height)!);
    return {
      blocks: delays.length,
      p50Ms: percentile(delays, 0.5),
      p99Ms: percentile(delays, 0.99),
    };
  } finally {
    await node.stop();
    node.remove();
    target.close();
  }
}

async function addLoad(node: BenchNode, target: string, conditions: object[]): Promise<void> {
  for (let index = 1; index < WEBHOOKS; index++) {
    const event = ["block.applied", "transaction.applied", "wallet.saved"][index % 3];
    await node.post("/api/webhooks", { event, target: `${target}/${index}`, conditions });
  }
}

type ShownBlock = { height: number; timestamp: { unix: number } };
const blocks = async ({ client }: BenchNode) =>
  (await client.get("/api/v2/blocks?limit=100")) as ShownBlock[];
const height = async (node: BenchNode) => (await blocks(node))[0]!.height;

const people = peopleOf(MNEMONIC, DEV_ADDRESS_VERSION);
const [alice, bob] = [people("account 0"), people("account 1")];

async function submit({ client }: BenchNode, nonce: bigint): Promise<void> {
  await client.submit([transferOf(client.network, alice, bob.address, nonce)]);
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
