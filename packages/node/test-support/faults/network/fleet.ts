/** Nodes of a network, each on its own host with the keys of one delegate, and a receiver for each. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "../../../src/platform/present.ts";
import { type TestNetwork, testNetwork } from "../../peers/test-network.ts";
import { type Client, connect } from "../../process/client.ts";
import { writeNetwork } from "../../process/network.ts";
import { spawnUniknode } from "../../process/uniknode.ts";
import { CANDIDATE } from "../actors/cast.ts";
import { createControl, TOKEN } from "../actors/control.ts";
import type { Hosts } from "../actors/hosts.ts";
import { createMember, type Member } from "../actors/member.ts";
import { createDraws } from "../actors/random.ts";
import { type Receiver, startReceiver } from "../actors/receiver.ts";
import { CHAIN_EVENTS } from "./delivered-chain.ts";

export type FleetNode = Member & {
  /** Data folder. */
  readonly data: string;
  readonly receiver: Receiver;
  /** Public keys of its delegates; the first node has that of a candidate as well. */
  readonly delegates: readonly string[];
  /** Returns a client, unless the node is down. */
  client(): Promise<Client | undefined>;
};

export type Fleet = {
  readonly hosts: Hosts;
  readonly network: TestNetwork;
  readonly nodes: readonly FleetNode[];
  /** Failures of processes. */
  readonly faults: readonly string[];
  close(): Promise<void>;
};

const P2P_PORT = 4_001;
const HTTP_PORT = 4_003;

export async function createFleet(hosts: Hosts, count: number, blocktime: number): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-fleet-"));
  const network = testNetwork({ nodes: count, blocktime });
  writeNetwork(join(folder, "network"), network);
  const faults: string[] = [];
  const around: Around = { hosts, folder, network, count, onFault: (fault) => void faults.push(fault) };
  const nodes = await Promise.all(Array.from({ length: count }, (_, index) => createNode(around, index)));
  const fleet = {
    ...{ hosts, network, nodes, faults },
    async close() {
      await Promise.all(nodes.map((node) => node.end("SIGKILL")));
      await Promise.all(nodes.map(({ receiver }) => receiver.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
    await Promise.all(nodes.map(({ receiver }, index) => register(urlOf(hosts, index), receiver)));
    return fleet;
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

type Around = Pick<Fleet, "hosts" | "network"> & {
  readonly folder: string;
  readonly count: number;
  readonly onFault: (fault: string) => void;
};

const urlOf = (hosts: Hosts, index: number): string => `http://${hosts.addressOf(index)}:${HTTP_PORT}`;

async function createNode(around: Around, index: number): Promise<FleetNode> {
  const { hosts, folder, network, onFault } = around;
  const data = join(folder, `node-${index}`);
  const delegates = [present(network.delegates[index]), ...(index === 0 ? [CANDIDATE] : [])];
  mkdirSync(data);
  const secrets = delegates.map(({ passphrase }) => passphrase);
  writeFileSync(join(data, "delegates.json"), JSON.stringify({ secrets }));
  const member = createMember({
    name: `node ${index}`,
    spawn: () => spawnUniknode(argumentsOf(around, index, data), { through: hosts.commandOf(index) }),
    ready: (process) => process.printed(/http:\S+/),
    onFault,
  });
  return {
    ...member,
    data,
    delegates: delegates.map(({ publicKey }) => publicKey),
    receiver: await startReceiver(createDraws(index), { host: hosts.own }),
    client: async () => (member.process() ? connect(urlOf(hosts, index)).catch(() => undefined) : undefined),
  };
}

const argumentsOf = ({ hosts, folder, count }: Around, index: number, data: string): string[] => [
  "run",
  ...["--network-dir", join(folder, "network"), "--data", data],
  ...["--delegates", join(data, "delegates.json"), "--watch-rounds", "0"],
  ...["--http-host", hosts.addressOf(index), "--http-port", String(HTTP_PORT), "--rate-limit", "0"],
  ...["--p2p-host", hosts.addressOf(index), "--p2p-port", String(P2P_PORT)],
  ...["--peers", [0, 1, 2].map(hosts.addressOf).join(",")],
  ...["--compare-with", urlOf(hosts, (index + 1) % count)],
  ...["--webhook-token", TOKEN, "--webhook-private-targets"],
];

async function register(url: string, receiver: Receiver): Promise<void> {
  const { token } = (await createControl(url).post("/api/webhooks", {
    events: CHAIN_EVENTS,
    target: receiver.url,
    conditions: [{ key: "id", condition: "ne", value: "" }],
    order: "strict",
  })) as { token: string };
  receiver.tokens.add(token);
}
