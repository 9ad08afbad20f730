/** Nodes of a network, each on its own host with the keys of one delegate, and a receiver for each. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "../../src/platform/present.ts";
import { type TestNetwork, testNetwork } from "../peers/test-network.ts";
import { type Client, connect } from "../process/client.ts";
import { writeNetwork } from "../process/network.ts";
import { type Running, spawnUniknode } from "../process/uniknode.ts";
import { ACCOUNT_EVENTS, type Account, openAccount } from "./account.ts";
import { CANDIDATE } from "./cast.ts";
import type { Hosts } from "./namespaces.ts";

export type Fleet = {
  readonly count: number;
  readonly hosts: Hosts;
  readonly network: TestNetwork;
  readonly accounts: readonly Account[];
  /** The node that has the keys of a delegate; the first one has those of a candidate as well. */
  ownerOf(publicKey: string): number;
  /** Data folder of a node. */
  dataOf(index: number): string;
  /** Returns the client of a node, unless the node is down. */
  client(index: number): Promise<Client | undefined>;
  start(index: number): Promise<void>;
  stop(index: number, signal: NodeJS.Signals): Promise<void>;
  signal(index: number, signal: NodeJS.Signals): void;
  /** Last lines of a node's output. */
  linesOf(index: number, count: number): string;
  close(): Promise<void>;
};

const P2P_PORT = 4_001;
const HTTP_PORT = 4_003;
const TOKEN = "fleet";
const STOP_TIMEOUT_MS = 30_000;

type State = {
  readonly hosts: Hosts;
  readonly count: number;
  readonly folder: string;
  readonly network: TestNetwork;
  readonly accounts: readonly Account[];
  readonly running: Map<number, Running>;
  /** Output of stopped nodes. */
  readonly written: Map<number, string>;
};

export async function createFleet(hosts: Hosts, count: number, blocktime: number): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-fleet-"));
  const network = testNetwork({ nodes: count, blocktime });
  writeNetwork(join(folder, "network"), network);
  const indexes = Array.from({ length: count }, (_, index) => index);
  const accounts = await Promise.all(indexes.map(() => openAccount(hosts.own)));
  const state: State = { hosts, count, folder, network, accounts, running: new Map(), written: new Map() };
  for (const index of indexes) writeDelegates(state, index);
  const fleet = fleetOf(state, indexes);
  try {
    await Promise.all(indexes.map((index) => start(state, index)));
    await Promise.all(indexes.map((index) => register(state, index)));
  } catch (error) {
    await fleet.close();
    throw error;
  }
  return fleet;
}

function fleetOf(state: State, indexes: readonly number[]): Fleet {
  const { count, hosts, network, accounts, folder, running, written } = state;
  return {
    count,
    hosts,
    network,
    accounts,
    ownerOf: (publicKey) =>
      present(
        indexes.find((index) =>
          delegatesOf(state, index).some((delegate) => delegate.publicKey === publicKey),
        ),
      ),
    dataOf: (index) => dataOf(state, index),
    client: async (index) =>
      running.has(index) ? connect(urlOf(state, index)).catch(() => undefined) : undefined,
    start: (index) => start(state, index),
    stop: (index, signal) => stop(state, index, signal),
    signal: (index, signal) => void running.get(index)?.child.kill(signal),
    linesOf: (index, lines) =>
      (running.get(index)?.stderr() ?? written.get(index) ?? "").split("\n").slice(-lines).join("\n"),
    async close() {
      await Promise.all(indexes.map((index) => stop(state, index, "SIGKILL")));
      await Promise.all(accounts.map((account) => account.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const urlOf = ({ hosts }: State, index: number): string => `http://${hosts.addressOf(index)}:${HTTP_PORT}`;
const dataOf = ({ folder }: State, index: number): string => join(folder, `node-${index}`);

const delegatesOf = ({ network }: State, index: number) => [
  present(network.delegates[index]),
  ...(index === 0 ? [CANDIDATE] : []),
];

function writeDelegates(state: State, index: number): void {
  mkdirSync(dataOf(state, index));
  const secrets = delegatesOf(state, index).map(({ passphrase }) => passphrase);
  writeFileSync(join(dataOf(state, index), "delegates.json"), JSON.stringify({ secrets }));
}

async function start(state: State, index: number): Promise<void> {
  const process = spawn(state, index);
  state.running.set(index, process);
  await process.printed(/http:\S+/);
}

function spawn(state: State, index: number): Running {
  const { hosts, folder, count } = state;
  const seeds = [0, 1, 2].map(hosts.addressOf).join(",");
  const data = dataOf(state, index);
  return spawnUniknode(
    [
      "run",
      ...["--network-dir", join(folder, "network"), "--data", data],
      ...["--delegates", join(data, "delegates.json"), "--watch-rounds", "0"],
      ...["--http-host", hosts.addressOf(index), "--http-port", String(HTTP_PORT), "--rate-limit", "0"],
      ...["--p2p-host", hosts.addressOf(index), "--p2p-port", String(P2P_PORT), "--peers", seeds],
      ...["--compare-with", urlOf(state, (index + 1) % count)],
      ...["--webhook-token", TOKEN, "--webhook-private-targets"],
    ],
    { through: hosts.commandOf(index) },
  );
}

async function stop({ running, written }: State, index: number, signal: NodeJS.Signals): Promise<void> {
  const process = running.get(index);
  if (!process) return;
  running.delete(index);
  process.child.kill(signal);
  // A process that does not end in time is a failure, and is killed nevertheless.
  const deadline = setTimeout(() => process.child.kill("SIGABRT"), STOP_TIMEOUT_MS);
  const { stderr } = await process.ended;
  clearTimeout(deadline);
  written.set(index, stderr);
}

/** Registers the account's webhook at its node. */
async function register(state: State, index: number): Promise<void> {
  const account = present(state.accounts[index]);
  const response = await fetch(`${urlOf(state, index)}/api/webhooks`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: TOKEN },
    body: JSON.stringify({
      events: ACCOUNT_EVENTS,
      target: account.url,
      conditions: [{ key: "id", condition: "ne", value: "" }],
      order: "strict",
    }),
  });
  const { data } = (await response.json()) as { data: { token: string } };
  account.token = data.token;
}
