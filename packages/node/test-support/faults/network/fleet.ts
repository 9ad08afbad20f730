/** Nodes of a network, each on its own host with the keys of one delegate, and a receiver for each. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { present } from "../../../src/platform/present.ts";
import { CANDIDATE } from "../../chain/cast.ts";
import { type TestNetwork, testNetwork } from "../../peers/test-network.ts";
import { type Client, connect } from "../../process/client.ts";
import type { Hosts } from "../../process/hosts.ts";
import { writeNetwork } from "../../process/network.ts";
import { spawnUniknode } from "../../process/uniknode.ts";
import { createDraws } from "../../random.ts";
import { registerReceiver } from "../actors/block-receiver.ts";
import { TOKEN } from "../actors/control.ts";
import { createMember } from "../actors/member.ts";
import { startReceiver } from "../actors/receiver.ts";
import type { Run } from "../scenario.ts";

export type Fleet = Awaited<ReturnType<typeof createFleet>>;
export type FleetNode = Fleet["nodes"][number];

const P2P_PORT = 4_001;
const HTTP_PORT = 4_003;

export async function createFleet(
  { folder, faults }: Pick<Run, "folder" | "faults">,
  hosts: Hosts,
  { count, blocktime }: { readonly count: number; readonly blocktime: number },
) {
  const network = testNetwork({ nodes: count, blocktime });
  writeNetwork(join(folder, "network"), network);
  const around: Around = { hosts, folder, network, count, faults };
  const nodes = await Promise.all(Array.from({ length: count }, (_, index) => createNode(around, index)));
  const fleet = {
    ...{ hosts, network, nodes },
    async close() {
      await Promise.all(nodes.map((node) => node.end("SIGKILL")));
      await Promise.all(nodes.map(({ receiver }) => receiver.close()));
    },
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
    await Promise.all(nodes.map(({ receiver }, index) => registerReceiver(urlOf(hosts, index), receiver)));
    return fleet;
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

type Around = Pick<Run, "folder" | "faults"> & {
  readonly hosts: Hosts;
  readonly network: TestNetwork;
  readonly count: number;
};

const urlOf = (hosts: Hosts, index: number): string => `http://${hosts.addressOf(index)}:${HTTP_PORT}`;

async function createNode(around: Around, index: number) {
  const { hosts, folder, network, faults } = around;
  const data = join(folder, `node-${index}`);
  const delegates = [present(network.delegates[index]), ...(index === 0 ? [CANDIDATE] : [])];
  mkdirSync(data);
  const secrets = delegates.map(({ passphrase }) => passphrase);
  writeFileSync(join(data, "delegates.json"), JSON.stringify({ secrets }));
  const member = createMember({
    name: `node ${index}`,
    spawn: () => spawnUniknode(argumentsOf(around, index, data), { through: hosts.commandOf(index) }),
    ready: (process) => process.printed(/http:\S+/),
    faults,
  });
  return {
    ...member,
    /** Data folder. */
    data,
    /** Public keys of its delegates; the first node has that of a candidate as well. */
    delegates: delegates.map(({ publicKey }) => publicKey),
    receiver: await startReceiver(createDraws(index), { host: hosts.own }),
    /** Returns a client, unless the node is down. */
    client: async (): Promise<Client | undefined> =>
      member.process() ? connect(urlOf(hosts, index)).catch(() => undefined) : undefined,
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
