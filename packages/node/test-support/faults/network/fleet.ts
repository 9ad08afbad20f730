/** Nodes of a network, each on its own host with the keys of one delegate, and a receiver for each. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { CANDIDATE } from "../../chain/cast.ts";
import { testNetwork } from "../../peers/test-network.ts";
import type { Hosts } from "../../process/hosts.ts";
import { writeNetwork } from "../../process/network.ts";
import { createDraws } from "../../random.ts";
import { clientOf, TOKEN } from "../actors/dev-chain.ts";
import { Member } from "../actors/member.ts";
import { Receiver } from "../actors/receiver.ts";
import { strictWebhook } from "../checks/delivered-chain.ts";
import type { Run } from "../scenario.ts";

export type Fleet = Awaited<ReturnType<typeof startFleet>>;
export type FleetNode = Fleet["nodes"][number];

export const NODES = 7;
const BLOCKTIME = 4;
const P2P_PORT = 4_001;
const HTTP_PORT = 4_003;

const urlOf = (hosts: Hosts, index: number): string => `http://${hosts.addressOf(index)}:${HTTP_PORT}`;

export async function startFleet(run: Run, hosts: Hosts) {
  const network = testNetwork({ nodes: NODES, blocktime: BLOCKTIME });
  writeNetwork(join(run.folder, "network"), network);
  const owners = network.delegates.map((delegate, index) => [delegate, ...(index === 0 ? [CANDIDATE] : [])]);
  const nodes = await Promise.all(owners.map((delegates, index) => createNode(run, hosts, index, delegates)));
  const fleet = { hosts, network, nodes };
  try {
    await Promise.all(nodes.map(({ member }) => member.start()));
    await Promise.all(nodes.map(({ client, receiver }) => receiver.register(client, strictWebhook())));
    return fleet;
  } catch (error) {
    await closeFleet(fleet);
    throw error;
  }
}

export async function closeFleet({ nodes }: Pick<Fleet, "nodes">): Promise<void> {
  await Promise.all(nodes.map(({ member }) => member.end("SIGKILL")));
  await Promise.all(nodes.map(({ receiver }) => receiver.close()));
}

async function createNode({ folder, faults }: Run, hosts: Hosts, index: number, delegates: DevAccount[]) {
  const [url, host] = [urlOf(hosts, index), hosts.addressOf(index)];
  const data = join(folder, `node-${index}`);
  mkdirSync(data);
  const secrets = delegates.map(({ passphrase }) => passphrase);
  writeFileSync(join(data, "delegates.json"), JSON.stringify({ secrets }));
  const args = [
    "run",
    ...["--network-dir", join(folder, "network"), "--data", data],
    ...["--delegates", join(data, "delegates.json"), "--watch-rounds", "0"],
    ...["--http-host", host, "--http-port", `${HTTP_PORT}`, "--rate-limit", "0"],
    ...["--p2p-host", host, "--p2p-port", `${P2P_PORT}`],
    ...["--peers", [0, 1, 2].map(hosts.addressOf).join(",")],
    ...["--webhook-token", TOKEN, "--webhook-private-targets"],
  ];
  const spawn = { through: hosts.commandOf(index) };
  const member = new Member({ name: `node ${index}`, args, spawn, faults });
  return {
    ...{ member, data, client: clientOf(url) },
    /** Public keys of its delegates; the first node has that of a candidate as well. */
    delegates: delegates.map(({ publicKey }) => publicKey),
    receiver: await Receiver.start(createDraws(index), { host: hosts.own }),
  };
}
