/** Costs of a live stream for a node: memory of a connection, and CPU time of an event. */
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../packages/node/src/platform/present.ts";
import { apiUrlOf, spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";
import { memoryMbOf } from "../serve/process-memory.ts";
import { ownProcessorMsOf } from "../serve/processor-time.ts";

const TOKEN = "bench";
const STREAMS = 200;
/** A node accepts so many streams of an address. */
const STREAMS_PER_ADDRESS = 20;
const BLOCKS = 400;
const SETTLE_MS = 2_000;
/** An idle node returns the space of its start and of the last blocks after some collections. */
const REST_MS = 25_000;

type Received = { bytes: number; events: number };

export async function measureStreams(): Promise<Readonly<Record<string, number>>> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-"));
  const node = spawnUniknode([
    ...["dev", "--data", folder, "--http-port", "0", "--webhook-token", TOKEN, "--events-public"],
    ...["--block-time", "3600"],
  ]);
  const pid = present(node.child.pid);
  try {
    const url = await apiUrlOf(node);
    const mine = async () => {
      await sleep(SETTLE_MS);
      const before = ownProcessorMsOf(pid);
      const headers = { authorization: TOKEN, "content-type": "application/json" };
      for (let mined = 0; mined < BLOCKS; mined += 100) {
        const body = JSON.stringify({ blocks: 100 });
        const response = await fetch(`${url}/api/dev/mine`, { method: "POST", headers, body });
        if (!response.ok) throw new Error(`no blocks: ${response.status} ${await response.text()}`);
      }
      await sleep(SETTLE_MS);
      return ownProcessorMsOf(pid) - before;
    };
    // The first blocks warm the code.
    await mine();
    const received: Received = { bytes: 0, events: 0 };
    const one = await openStream(url, 0, received);
    await mine();
    const withOne = await mine();
    const memory = await memoryAtRest(pid);
    const others: IncomingMessage[] = [];
    for (let index = 1; index < STREAMS; index++) others.push(await openStream(url, index, received));
    await sleep(SETTLE_MS);
    Object.assign(received, { bytes: 0, events: 0 });
    const withAll = await mine();
    const { bytes, events } = received;
    const grown = (await memoryAtRest(pid)) - memory;
    for (const stream of [one, ...others]) stream.destroy();
    return {
      nodeMb: memory,
      streamBytes: (1e6 * grown) / (STREAMS - 1),
      streamEventUs: (1_000 * (withAll - withOne)) / (events * (1 - 1 / STREAMS)),
      streamEventBytes: bytes / events,
    };
  } finally {
    node.child.kill("SIGTERM");
    await node.ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function memoryAtRest(pid: number): Promise<number> {
  await sleep(REST_MS);
  return memoryMbOf(pid);
}

/** Opens a stream of all blocks, from an address that few other streams have. */
async function openStream(url: string, index: number, received: Received): Promise<IncomingMessage> {
  const localAddress = `127.0.1.${1 + Math.floor(index / STREAMS_PER_ADDRESS)}`;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${url}/api/events?events=block.applied`, { localAddress, agent: false }, resolve).on(
      "error",
      reject,
    );
  });
  if (response.statusCode !== 200) throw new Error(`no stream: ${response.statusCode}`);
  response.setEncoding("utf8");
  response.on("error", () => {});
  response.on("data", (text: string) => {
    received.bytes += text.length;
    received.events += text.match(/^event: block\.applied/gm)?.length ?? 0;
  });
  return response;
}
