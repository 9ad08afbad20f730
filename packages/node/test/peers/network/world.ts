/** A network of a test: its own genesis, a delegate for each node, nodes as processes at loopback addresses. */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  blockToJson,
  builders,
  createGenesisBlock,
  createNetwork,
  type Network,
  type NetworkFiles,
} from "@uniknode/protocol";
import { seal } from "../../../src/dev/genesis.ts";
import { type Person, peopleOf } from "../../../src/dev/keys.ts";
import { castOf, DEV_ADDRESS_VERSION, devDescription, devMilestones } from "../../../src/dev/network.ts";
import { type Running, spawnUniknode } from "../../process/uniknode.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const people = peopleOf(MNEMONIC, DEV_ADDRESS_VERSION);
const ONE = 100_000_000n;

export type World = {
  readonly network: Network;
  readonly folder: string;
  readonly networkDir: string;
  readonly port: number;
  readonly delegates: readonly Person[];
  readonly rich: Person;
  /** Starts the node of an index, or starts it again. */
  start(index: number, ...options: string[]): Promise<TestNode>;
  /** Ends everything and removes the folder. */
  close(): Promise<void>;
};

export type TestNode = {
  readonly index: number;
  readonly url: string;
  readonly process: Running;
  /** The data of an API path. */
  get<T>(path: string): Promise<T>;
  height(): Promise<number>;
  stop(signal?: NodeJS.Signals): Promise<void>;
};

export type WorldOptions = { readonly nodes: number; readonly blocktime: number };

export const addressOf = (index: number): string => `127.0.0.${index + 2}`;

function networkOf({ nodes, blocktime }: WorldOptions) {
  const cast = castOf(people, 1);
  const [base, ...later] = devMilestones(blocktime);
  const { nbDelegatesByType: _, ...common } = base!;
  const files: NetworkFiles = {
    network: { ...devDescription(cast), name: "testworld" },
    milestones: [
      { ...common, height: 1, activeDelegates: nodes, p2p: { minimumVersions: ["^5.0.0"] } },
      ...later,
    ],
    exceptions: {},
  };
  const delegates = Array.from({ length: nodes }, (_, index) => people(`founder ${index}`));
  const rich = people("account 0");
  const network = createNetwork(files);
  const envelope = ({ publicKey }: Person) => ({
    version: 1 as const,
    network,
    senderPublicKey: publicKey,
    timestamp: 0,
    fee: 0n,
  });
  const transactions = [
    seal(
      builders.transfer({
        ...envelope(cast.treasury),
        recipientId: rich.address,
        amount: 1_000_000n * ONE,
      }),
      cast.treasury,
    ),
    ...delegates.map((person, index) =>
      seal(builders.delegateRegistration({ ...envelope(person), username: `delegate_${index}` }), person),
    ),
  ];
  const genesis = createGenesisBlock({ files, transactions, keys: cast.treasury.keys });
  return { ...genesis, delegates, rich };
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-world-"));
  const { block, files, delegates, rich } = networkOf(options);
  const networkDir = join(folder, "network");
  mkdirSync(networkDir);
  const write = (name: string, content: unknown) =>
    writeFileSync(join(networkDir, name), JSON.stringify(content));
  write("network.json", files.network);
  write("milestones.json", files.milestones);
  write("genesisBlock.json", blockToJson(block));
  const port = await freePort();
  const running: TestNode[] = [];

  async function start(index: number, ...more: string[]): Promise<TestNode> {
    const keys = join(folder, `delegates-${index}.json`);
    writeFileSync(keys, JSON.stringify({ secrets: [delegates[index]?.passphrase ?? "nobody"] }));
    const process = spawnUniknode([
      "run",
      ...["--network-dir", networkDir, "--data", join(folder, `node-${index}`), "--http-port", "0"],
      ...["--rate-limit", "0", "--p2p-host", addressOf(index), "--p2p-port", String(port), "--p2p-loopback"],
      ...["--p2p-max-peers-same-subnet", "50", "--peers", `${addressOf(0)},${addressOf(1)}`],
      ...["--delegates", keys, ...more],
    ]);
    const [url = ""] = await process.printed(/http:\S+/);
    const get = async <T>(path: string): Promise<T> => {
      const { data } = (await (await fetch(`${url}/api${path}`)).json()) as { data: T };
      return data;
    };
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

/** A port that is free at the first of the addresses, and so most likely at all. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, addressOf(0));
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
