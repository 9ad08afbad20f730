/** Network of a test: its own genesis, a delegate for each node, nodes as processes at loopback addresses. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlockHeader, createNetwork, type Network } from "@uniknode/protocol";
import type { DevAccount } from "../../src/dev-chain/keys.ts";
import { writeNetwork } from "../process/network.ts";
import { type Running, spawnUniknode } from "../process/uniknode.ts";
import { type NetworkShape, testNetwork } from "./test-network.ts";

export type World = {
  readonly network: Network;
  readonly genesis: BlockHeader;
  readonly folder: string;
  readonly networkDir: string;
  readonly port: number;
  readonly delegates: readonly DevAccount[];
  readonly rich: DevAccount;
  /** Starts or restarts the node with an index. */
  start(index: number, ...options: string[]): Promise<TestNode>;
  /** Ends all nodes and removes the folder. */
  close(): Promise<void>;
};

export type TestNode = {
  readonly index: number;
  readonly url: string;
  readonly process: Running;
  /** Returns `data` of an API path. */
  get<T>(path: string): Promise<T>;
  height(): Promise<number>;
  stop(signal?: NodeJS.Signals): Promise<void>;
};

export const addressOf = (index: number): string => `127.0.0.${index + 2}`;

export async function createWorld(options: NetworkShape): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-world-"));
  const { block, files, delegates, rich } = testNetwork(options);
  const networkDir = join(folder, "network");
  writeNetwork(networkDir, { block, files });
  const port = await freePort();
  const running: TestNode[] = [];

  async function start(index: number, ...more: string[]): Promise<TestNode> {
    const keys = join(folder, `delegates-${index}.json`);
    writeFileSync(keys, JSON.stringify({ secrets: [delegates[index]?.passphrase ?? "unknown"] }));
    const process = spawnUniknode([
      "run",
      ...["--network-dir", networkDir, "--data", join(folder, `node-${index}`), "--http-port", "0"],
      ...["--rate-limit", "0", "--p2p-host", addressOf(index), "--p2p-port", String(port), "--p2p-loopback"],
      ...["--p2p-max-peers-same-subnet", "50", "--peers", `${addressOf(0)},${addressOf(1)}`],
      ...["--delegates", keys, "--watch-rounds", "0", ...more],
    ]);
    const [url = ""] = await process.printed(/http:\S+/);
    const get = <T>(path: string) => getData<T>(process, `${url}/api${path}`);
    const node: TestNode = {
      index,
      url,
      process,
      get,
      height: async () => (await get<{ block: { height: number } }>("/blockchain")).block.height,
      async stop(signal = "SIGTERM") {
        process.child.kill(signal);
        await process.ended;
        running.splice(running.indexOf(node), 1);
      },
    };
    running.push(node);
    return node;
  }

  return {
    network: createNetwork(files),
    genesis: block.header,
    folder,
    networkDir,
    port,
    delegates,
    rich,
    start,
    async close() {
      await Promise.all([...running].map((node) => node.stop("SIGKILL")));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function getData<T>(process: Running, url: string): Promise<T> {
  const response = await fetch(url).catch(async (error) => {
    const { exitCode, signalCode } = process.child;
    if (exitCode === null && signalCode === null) throw error;
    const { stdout, stderr } = await process.ended;
    throw new Error(`the node has ended (${exitCode ?? signalCode}):\n${stdout}\n${stderr}`);
  });
  const { data } = (await response.json()) as { data: T };
  return data;
}

/**
 * Ports below the ephemeral range, so that no other process gets one of them between kill and start. Each worker has a part
 * of them, which it uses in order: tests that run at the same time never get the same one.
 */
const PORTS = { first: 10_000, perWorker: 2_000, workers: 10 };
let portsUsed = Math.floor(Math.random() * PORTS.perWorker);

/** Returns a port that is free at every address. */
export async function freePort(): Promise<number> {
  const worker = Number(process.env.VITEST_POOL_ID ?? 0) % PORTS.workers;
  for (;;) {
    const port = PORTS.first + worker * PORTS.perWorker + (portsUsed++ % PORTS.perWorker);
    const server = createServer().listen(port);
    try {
      await once(server, "listening");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
