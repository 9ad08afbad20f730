/** Starts nodes to attack: the real process with default options, delegates that forge four slots of five, and webhooks. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type NetworkShape, testNetwork } from "../../../packages/node/test-support/peers/test-network.ts";
import { freePort } from "../../../packages/node/test-support/peers/world.ts";
import { writeNetwork } from "../../../packages/node/test-support/process/network.ts";
import { spawnUniknode } from "../../../packages/node/test-support/process/uniknode.ts";
import { SiegedNode } from "./node.ts";
import { tickRecorder } from "./ticks.ts";

/** Requirements of an attack that has a node of its own. */
type NodeNeeds = {
  /** Folder of a node that has run before; absent: a new one. */
  readonly folder?: string;
  /** Nodes that ran in that folder. */
  readonly earlier?: readonly SiegedNode[];
  /** Seconds of a slot. */
  readonly blocktime?: number;
  /** Options beside those of all nodes. */
  readonly options?: readonly string[];
  /** Returns the command that runs the program with files of the folder. */
  readonly through?: (folder: string) => readonly string[];
  /** A dev chain with default options, instead of a node of a separate network. */
  readonly isDevChain?: boolean;
  /** The node reads its clock offset from a file. */
  readonly hasOwnClock?: boolean;
};

const HOST = "127.0.0.1";
const TOKEN = "siege";
/** Seconds of a slot: short, so that a busy node misses one. */
const BLOCKTIME = 2;
const NODES = 5;
const CLOCK = fileURLToPath(
  new URL("../../../packages/node/test-support/faults/actors/clock-jumps.ts", import.meta.url),
);

const shapeOf = (blocktime: number): NetworkShape => ({ nodes: NODES, blocktime });

/** Folder of the node's data and, beside it, its signing record. */
export const diskOf = (folder: string): string => join(folder, "disk");
export const dataFolderOf = (folder: string): string => join(diskOf(folder), "data");

/** A folder for a node that has not run yet: the files of its network, the keys of its delegates, its disk. */
export function newFolder(blocktime = BLOCKTIME): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-siege-"));
  const network = testNetwork(shapeOf(blocktime));
  writeNetwork(join(folder, "network"), network);
  mkdirSync(dataFolderOf(folder), { recursive: true });
  const secrets = network.delegates.slice(0, -1).map(({ passphrase }) => passphrase);
  writeFileSync(join(folder, "delegates.json"), JSON.stringify({ secrets }));
  writeFileSync(join(folder, "clock"), "0");
  return folder;
}

/** Starts a node, and waits until it responds. */
export async function startNode({
  isDevChain = false,
  hasOwnClock = false,
  blocktime = BLOCKTIME,
  folder = newFolder(blocktime),
  earlier = [],
  options = ["--http-host", HOST],
  through = () => [],
}: NodeNeeds = {}): Promise<SiegedNode> {
  const clockFile = join(folder, "clock");
  const ticksFile = join(mkdtempSync(join(folder, "ticks-")), "ticks");
  const peerPort = await freePort();
  const { nodeArguments, environment } = tickRecorder(ticksFile);
  const ofNetwork = [
    ...["--network-dir", join(folder, "network"), "--delegates", join(folder, "delegates.json")],
    ...["--p2p-port", String(peerPort), ...options],
    // Receivers are on this machine, to which a public node does not deliver.
    ...["--webhook-allow", "127.0.0.0/8"],
    // The siege observes forging itself.
    ...["--watch-rounds", "0"],
  ];
  const process = spawnUniknode(
    [
      ...(isDevChain ? ["dev", "--log-level", "info", "--log-format", "json"] : ["run", ...ofNetwork]),
      ...["--data", dataFolderOf(folder), "--http-port", "0", "--webhook-token", TOKEN],
    ],
    {
      through: through(folder),
      nodeArguments: [...nodeArguments, ...(hasOwnClock ? ["--import", CLOCK] : [])],
      environment: { ...environment, ...(hasOwnClock && { UNIKNODE_TEST_CLOCK: clockFile }) },
    },
  );
  const [url] = await process.printed(/http:\S+/);
  // The mounts of the process can differ from those of this one.
  const diskFolder = join(`/proc/${process.child.pid}/root`, diskOf(folder));
  const httpPort = Number(new URL(url).port);
  const target = {
    host: HOST,
    httpPort,
    peerPort,
    token: TOKEN,
    network: shapeOf(blocktime),
    diskFolder,
    clockFile,
  };
  return new SiegedNode({ process, target, folder, ticksFile, earlier });
}

/** Starts a node, and waits until it forges. */
export async function startForging(needs: NodeNeeds = {}): Promise<SiegedNode> {
  const node = await startNode(needs);
  await node.untilForged(2);
  return node;
}
