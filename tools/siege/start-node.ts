/** Starts nodes to attack: the real process with default options, delegates that forge four slots of five, and webhooks. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { present } from "../../packages/node/src/platform/present.ts";
import { type NetworkShape, testNetwork } from "../../packages/node/test-support/peers/test-network.ts";
import { freePort } from "../../packages/node/test-support/peers/world.ts";
import { writeNetwork } from "../../packages/node/test-support/process/network.ts";
import { apiUrlOf, spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";
import { reachedDisk, throughDisk } from "./data-disk.ts";
import { tickRecorder } from "./observers/ticks.ts";
import { throughNames } from "./own-names.ts";
import { type SiegedNode, siegedNode, untilForged } from "./target.ts";

/** Requirements of an attack that has a node of its own. */
export type NodeNeeds = {
  /** Folder of a node that has run before; absent: a new one. */
  readonly folder?: string;
  /** Size of a separate data disk in MiB, which can be filled. */
  readonly diskMib?: number;
  /** The node reads its clock offset from a file. */
  readonly hasOwnClock?: boolean;
  /** Seconds of a slot. */
  readonly blocktime?: number;
  /** Address that its HTTP server listens on. */
  readonly httpHost?: string;
  /** The name server of the process is 127.0.0.1. */
  readonly hasOwnNames?: boolean;
  /** Addresses of this machine can become its peers. */
  readonly hasLoopbackPeers?: boolean;
};

const HOST = "127.0.0.1";
const TOKEN = "siege";
/** Seconds of a slot: short, so that a busy node misses one. */
const BLOCKTIME = 2;
const NODES = 5;
const CLOCK = fileURLToPath(
  new URL("../../packages/node/test-support/faults/actors/clock-jumps.ts", import.meta.url),
);

const shapeOf = (blocktime: number): NetworkShape => ({ nodes: NODES, blocktime });

/** Starts a node on a separate network, and waits until it responds. */
export async function startNode({
  diskMib,
  hasOwnClock = false,
  blocktime = BLOCKTIME,
  folder = newFolder(blocktime),
  httpHost = HOST,
  hasOwnNames = false,
  hasLoopbackPeers = false,
}: NodeNeeds = {}): Promise<SiegedNode> {
  const disk = join(folder, "disk");
  const clockFile = join(folder, "clock");
  const ticksFile = join(mkdtempSync(join(folder, "ticks-")), "ticks");
  const peerPort = await freePort();
  const { nodeArguments, environment } = tickRecorder(ticksFile);
  const process = spawnUniknode(
    [
      "run",
      ...["--network-dir", join(folder, "network"), "--delegates", join(folder, "delegates.json")],
      ...["--data", dataFolderOf(folder), "--http-host", httpHost, "--http-port", "0"],
      ...["--p2p-port", String(peerPort), "--webhook-token", TOKEN],
      ...(hasLoopbackPeers ? ["--p2p-host", HOST, "--p2p-loopback"] : []),
      // Receivers are on this machine, to which a public node does not deliver.
      ...["--webhook-allow", "127.0.0.0/8"],
      // The siege observes forging itself.
      ...["--watch-rounds", "0"],
    ],
    {
      ...(diskMib !== undefined && { through: throughDisk(disk, diskMib) }),
      ...(hasOwnNames && { through: throughNames(join(folder, "resolv.conf")) }),
      nodeArguments: [...nodeArguments, ...(hasOwnClock ? ["--import", CLOCK] : [])],
      environment: { ...environment, ...(hasOwnClock && { UNIKNODE_TEST_CLOCK: clockFile }) },
    },
  );
  const [url] = await process.printed(/http:\S+/);
  const diskFolder = diskMib === undefined ? disk : reachedDisk(present(process.child.pid), disk);
  const target = {
    host: HOST,
    httpPort: Number(new URL(url).port),
    peerPort,
    token: TOKEN,
    network: shapeOf(blocktime),
    diskFolder,
    clockFile,
  };
  return siegedNode({ process, target, folder, ticksFile });
}

/** Starts a node, and waits until it forges. */
export async function startForging(needs: NodeNeeds = {}): Promise<SiegedNode> {
  const node = await startNode(needs);
  await untilForged(node, 2);
  return node;
}

/** Starts a dev chain with default options, and waits until it forges. */
export async function startDevChain(): Promise<SiegedNode> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-siege-dev-"));
  const ticksFile = join(folder, "ticks");
  const process = spawnUniknode(
    [
      "dev",
      ...["--data", join(folder, "data"), "--http-port", "0", "--webhook-token", TOKEN],
      ...["--log-level", "info", "--log-format", "json"],
    ],
    tickRecorder(ticksFile),
  );
  const url = await apiUrlOf(process);
  const target = {
    host: HOST,
    httpPort: Number(new URL(url).port),
    peerPort: 0,
    token: TOKEN,
    network: shapeOf(BLOCKTIME),
    diskFolder: folder,
    clockFile: join(folder, "clock"),
  };
  const node = siegedNode({ process, target, folder, ticksFile });
  await untilForged(node, 2);
  return node;
}

/** A folder for a node that has not run yet: the files of its network, the keys of its delegates, its disk. */
export function newFolder(blocktime = BLOCKTIME): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-siege-"));
  const network = testNetwork(shapeOf(blocktime));
  writeNetwork(join(folder, "network"), network);
  mkdirSync(dataFolderOf(folder), { recursive: true });
  const own = network.delegates.slice(0, -1);
  const secrets = own.map(({ passphrase }) => passphrase);
  writeFileSync(join(folder, "delegates.json"), JSON.stringify({ secrets }));
  writeFileSync(join(folder, "clock"), "0");
  return folder;
}

/** Path on the node's disk, next to its signing record. */
export const dataFolderOf = (folder: string): string => join(folder, "disk", "data");
