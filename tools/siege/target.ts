/** The node under siege: the real process with default options, delegates that forge four slots of five, and webhooks. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Person } from "../../packages/node/src/dev-chain/keys.ts";
import { type NetworkShape, testNetwork } from "../../packages/node/test-support/peers/test-network.ts";
import { freePort } from "../../packages/node/test-support/peers/world.ts";
import { writeNetwork } from "../../packages/node/test-support/process/network.ts";
import { type Running, spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";

/** Plain values, so that attacks can run in a thread of their own. */
export type Target = {
  readonly host: string;
  readonly httpPort: number;
  readonly peerPort: number;
  /** Secret of the webhook register, for attacks by a client that has it. */
  readonly token: string;
  readonly network: NetworkShape;
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
  /** Resident memory, MiB. */
  residentMib(): number;
  /** @throws {Error} when the metrics are not answered in time */
  figures(): Promise<Figures>;
  close(): Promise<void>;
};

const HOST = "127.0.0.1";
const TOKEN = "siege";
/** Seconds of a slot: short ones, so that a node that is kept busy misses one. */
const NETWORK: NetworkShape = { nodes: 5, blocktime: 2 };
const STOP_TIMEOUT_MS = 60_000;
const FIGURES_TIMEOUT_MS = 10_000;

/** The delegate whose keys the attackers have; the node has those of all others. */
export const hostileDelegate = ({ network }: Pick<Target, "network">): Person =>
  testNetwork(network).delegates.at(-1)!;

export async function startNode(): Promise<SiegedNode> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-siege-"));
  const network = testNetwork(NETWORK);
  writeNetwork(join(folder, "network"), network);
  mkdirSync(join(folder, "data"));
  const keys = join(folder, "delegates.json");
  const own = network.delegates.slice(0, -1);
  writeFileSync(keys, JSON.stringify({ secrets: own.map(({ passphrase }) => passphrase) }));
  const peerPort = await freePort();
  const process = spawnUniknode([
    "run",
    ...["--network-dir", join(folder, "network"), "--data", join(folder, "data"), "--delegates", keys],
    ...["--http-port", "0", "--p2p-port", String(peerPort), "--webhook-token", TOKEN],
    // Receivers are on this machine, which a node on the Internet does not deliver to.
    ...["--webhook-allow", "127.0.0.0/8"],
    // What is observed is the forging itself.
    ...["--watch-rounds", "0"],
  ]);
  const [url] = await process.printed(/http:\S+/);
  const httpPort = Number(new URL(url).port);

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

  return {
    target: { host: HOST, httpPort, peerPort, token: TOKEN, network: NETWORK },
    process,
    residentMib() {
      if (!existsSync(`/proc/${process.child.pid}/status`)) return 0;
      const status = readFileSync(`/proc/${process.child.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    },
    figures,
    async close() {
      process.child.kill("SIGTERM");
      const deadline = setTimeout(() => process.child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await process.ended;
      clearTimeout(deadline);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
