/** The node under siege: the real process with default options, delegates that forge four slots of five, and webhooks. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createNetwork, createSlots, type Slots } from "@uniknode/protocol";
import type { DevAccount } from "../../packages/node/src/dev-chain/keys.ts";
import { type NetworkShape, testNetwork } from "../../packages/node/test-support/peers/test-network.ts";
import { freePort } from "../../packages/node/test-support/peers/world.ts";
import { writeNetwork } from "../../packages/node/test-support/process/network.ts";
import { type Running, spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";
import { reachedDisk, throughDisk } from "./data-disk.ts";

/** Plain values, so that attacks can run in a thread of their own. */
export type Target = {
  readonly host: string;
  readonly httpPort: number;
  readonly peerPort: number;
  /** Secret of the webhook register, for attacks by a client that has it. */
  readonly token: string;
  readonly network: NetworkShape;
  /** Where the node's data is, as this process reaches it. */
  readonly diskFolder: string;
  /** Milliseconds that the node's clock is ahead, in a file that can be written at any time. */
  readonly clockFile: string;
};

/** What an attack needs of a node of its own. */
export type NodeNeeds = {
  /** Folder of a node that has run before; a new one unless given. */
  readonly folder?: string;
  /** The data is on a disk of its own, of so many MiB, which can be filled. */
  readonly diskMib?: number;
  /** The node's clock goes by the file. */
  readonly hasOwnClock?: boolean;
};

export type Figures = {
  /** Slots of the node's delegates since it started. */
  readonly forged: number;
  readonly missed: number;
  /** Live streams that are open. */
  readonly streams: number;
};

export type SiegedNode = {
  readonly target: Target;
  readonly process: Running;
  readonly slots: Slots;
  /** Lines of its log with this message. */
  logged(message: string): LogLine[];
  /** Blocks that were signed with its keys, by all processes that had them. */
  signed(): Signed[];
  /** Resident memory, MiB. */
  residentMib(): number;
  /** @throws {Error} when the metrics are not answered in time */
  figures(): Promise<Figures>;
  /** Ends it, and leaves its folder. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Ends it, and removes its folder. */
  close(): Promise<void>;
};

/** A block that was signed. */
export type Signed = { readonly slot: number; readonly publicKey: string; readonly id: string };

export type LogLine = Readonly<Record<string, unknown>>;

const HOST = "127.0.0.1";
const TOKEN = "siege";
/** Seconds of a slot: short ones, so that a node that is kept busy misses one. */
const NETWORK: NetworkShape = { nodes: 5, blocktime: 2 };
const STOP_TIMEOUT_MS = 60_000;
const FIGURES_TIMEOUT_MS = 10_000;
const FORGING_TIMEOUT_MS = 60_000;
const CLOCK = fileURLToPath(
  new URL("../../packages/node/test-support/simulation/clock-jumps.ts", import.meta.url),
);

/** The delegate whose keys the attackers have; the node has those of all others. */
export const hostileDelegate = ({ network }: Pick<Target, "network">): DevAccount =>
  testNetwork(network).delegates.at(-1)!;

/** Starts a node on a network of its own, and waits until it answers. */
export async function startNode({
  folder = newFolder(),
  diskMib,
  hasOwnClock = false,
}: NodeNeeds = {}): Promise<SiegedNode> {
  const disk = join(folder, "disk");
  const clockFile = join(folder, "clock");
  const peerPort = await freePort();
  const process = spawnUniknode(
    [
      "run",
      ...["--network-dir", join(folder, "network"), "--delegates", join(folder, "delegates.json")],
      ...["--data", dataFolderOf(folder), "--http-port", "0", "--p2p-port", String(peerPort)],
      ...["--webhook-token", TOKEN],
      // Receivers are on this machine, which a node on the Internet does not deliver to.
      ...["--webhook-allow", "127.0.0.0/8"],
      // What is observed is the forging itself.
      ...["--watch-rounds", "0"],
    ],
    {
      ...(diskMib !== undefined && { through: throughDisk(disk, diskMib) }),
      ...(hasOwnClock && {
        nodeArguments: ["--import", CLOCK],
        environment: { UNIKNODE_TEST_CLOCK: clockFile },
      }),
    },
  );
  const [url] = await process.printed(/http:\S+/);
  const { pid } = process.child;
  const diskFolder = diskMib === undefined ? disk : reachedDisk(pid!, disk);

  async function figures(): Promise<Figures> {
    const signal = AbortSignal.timeout(FIGURES_TIMEOUT_MS);
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: TOKEN }, signal });
    const text = await answer.text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
    return {
      forged: value("uniknode_forger_blocks_forged_total"),
      missed: value("uniknode_forger_slots_missed_total"),
      streams: value("uniknode_streams"),
    };
  }

  const logged = (message: string): LogLine[] =>
    process
      .stderr()
      .split("\n")
      .filter((line) => line.endsWith("}") && line.includes(`"msg":"${message}"`))
      .map((line) => JSON.parse(line) as LogLine);

  async function stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    process.child.kill(signal);
    const deadline = setTimeout(() => process.child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await process.ended;
    clearTimeout(deadline);
  }

  return {
    target: {
      host: HOST,
      httpPort: Number(new URL(url).port),
      peerPort,
      token: TOKEN,
      network: NETWORK,
      diskFolder,
      clockFile,
    },
    process,
    slots: createSlots(createNetwork(testNetwork(NETWORK).files)),
    residentMib() {
      if (!existsSync(`/proc/${pid}/status`)) return 0;
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    },
    figures,
    logged,
    signed: () => logged("block forged") as unknown as Signed[],
    stop,
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a node, and waits until it forges. */
export async function startForging(needs: NodeNeeds = {}): Promise<SiegedNode> {
  const node = await startNode(needs);
  await untilForged(node, 2);
  return node;
}

/** Waits until the process has forged so many blocks. */
export async function untilForged(node: SiegedNode, count: number): Promise<void> {
  const endsMs = performance.now() + FORGING_TIMEOUT_MS;
  while (node.signed().length < count) {
    if (performance.now() > endsMs || hasEnded(node)) {
      await node.close();
      throw new Error(`the node does not forge:\n${lastLines(node)}`);
    }
    await sleep(100);
  }
}

/** A folder for a node that has not run yet: the files of its network, the keys of its delegates, its disk. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-siege-"));
  const network = testNetwork(NETWORK);
  writeNetwork(join(folder, "network"), network);
  mkdirSync(dataFolderOf(folder), { recursive: true });
  const own = network.delegates.slice(0, -1);
  const secrets = own.map(({ passphrase }) => passphrase);
  writeFileSync(join(folder, "delegates.json"), JSON.stringify({ secrets }));
  writeFileSync(join(folder, "clock"), "0");
  return folder;
}

/** On the node's disk, beside its signing record. */
export const dataFolderOf = (folder: string): string => join(folder, "disk", "data");

export const hasEnded = ({ process: { child } }: SiegedNode): boolean =>
  child.exitCode !== null || child.signalCode !== null;

export const lastLines = ({ process }: SiegedNode): string =>
  process.stderr().split("\n").slice(-10).join("\n");
