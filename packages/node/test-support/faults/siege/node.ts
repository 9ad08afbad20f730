/** A node under siege: the real process with default options, delegates that forge four slots of five, and its measurements from outside. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { present } from "../../../src/platform/present.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { type NetworkShape, testNetwork } from "../../peers/test-network.ts";
import { freePort } from "../../peers/world.ts";
import { writeNetwork } from "../../process/network.ts";
import { until } from "../../process/until.ts";
import { TOKEN } from "../actors/dev-chain.ts";
import { Member } from "../actors/member.ts";
import { firstValue } from "../scenario.ts";
import { ask, WITH_TOKEN } from "./requests.ts";
import { type LongestTick, TickReader, tickRecorder } from "./ticks.ts";

/** Plain values, so that attacks can run in a separate thread. */
export type Target = {
  readonly host: string;
  readonly httpPort: number;
  /** Not open on a dev chain. */
  readonly peerPort: number;
  readonly network: NetworkShape;
};

/** Requirements of an attack that has a node of its own. */
type NodeNeeds = {
  readonly blocktime?: number;
  readonly options?: readonly string[];
  /** A dev chain with default options, instead of a node of a separate network. */
  readonly isDevChain?: boolean;
  /** Changes the database of the node, which is then started again. */
  readonly change?: (database: Database) => void;
};

/** Members of log lines. */
type Miss = { readonly slot: number; readonly reason: string };
type Signed = { readonly slot: number; readonly publicKey: string; readonly id: string };

const HOST = "127.0.0.1";
const NODES = 5;
/** Seconds of a slot: short, so that a busy node misses one. */
const BLOCKTIME = 2;
/** Address of the reader of metrics. */
const OBSERVER = "127.8.0.1";

/** Delegate whose keys the attackers have; the node has the keys of all others. */
export const hostileDelegate = ({ network }: Pick<Target, "network">): DevAccount =>
  present(testNetwork(network).delegates.at(-1));

export async function startForging({ change, ...needs }: NodeNeeds = {}): Promise<SiegedNode> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-siege-"));
  const node = await startIn(folder, needs);
  if (!change) return node;
  await node.stop();
  const database = openDatabase(join(folder, "data", "node.sqlite"));
  change(database);
  database.close();
  return startIn(folder, needs);
}

async function startIn(
  folder: string,
  { isDevChain = false, blocktime = BLOCKTIME, options = [] }: Omit<NodeNeeds, "change">,
): Promise<SiegedNode> {
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true });
  const shape = { nodes: NODES, blocktime };
  const network = testNetwork(shape);
  writeNetwork(join(folder, "network"), network);
  const secrets = network.delegates.slice(0, -1).map(({ passphrase }) => passphrase);
  writeFileSync(join(folder, "delegates.json"), JSON.stringify({ secrets }));
  const ticksFile = join(mkdtempSync(join(folder, "ticks-")), "ticks");
  const peerPort = await freePort();
  const ofNetwork = [
    ...["--network-dir", join(folder, "network"), "--delegates", join(folder, "delegates.json")],
    ...["--http-host", HOST, "--p2p-port", String(peerPort), ...options],
    // Receivers are on this machine, to which a public node does not deliver.
    ...["--webhook-allow", "127.0.0.0/8"],
    // The siege observes forging itself.
    ...["--watch-rounds", "0"],
  ];
  const args = [
    ...(isDevChain ? ["dev", "--log-level", "info", "--log-format", "json"] : ["run", ...ofNetwork]),
    ...["--data", data, "--http-port", "0", "--webhook-token", TOKEN],
  ];
  const faults: string[] = [];
  const member = new Member({ name: "the node", args, spawn: tickRecorder(ticksFile), faults });
  await member.start();
  const httpPort = Number(/http:\S+:(\d+)/.exec(member.output)?.[1]);
  const target = { host: HOST, httpPort, peerPort, network: shape };
  const node = new SiegedNode(target, { member, faults, folder, ticks: new TickReader(ticksFile) });
  await node.untilForged(2);
  return node;
}

type Started = {
  readonly member: Member;
  readonly faults: readonly string[];
  readonly folder: string;
  readonly ticks: TickReader;
};

export class SiegedNode {
  readonly target: Target;
  readonly #started: Started;

  constructor(target: Target, started: Started) {
    this.target = target;
    this.#started = started;
  }

  get hasEnded(): boolean {
    return this.#started.member.running === undefined;
  }

  lastLines(): string {
    const { faults, member } = this.#started;
    return [...faults, ...member.output.split("\n").slice(-20)].join("\n");
  }

  #logged<Line>(message: string): Line[] {
    return this.#started.member.output
      .split("\n")
      .filter((line) => line.endsWith("}") && line.includes(`"msg":"${message}"`))
      .map((line) => JSON.parse(line) as Line);
  }

  /** Slots with several blocks of one key. On two branches, two keys can have one slot: the order of delegates follows the height. */
  slotsSignedTwice(): number[] {
    const ids = new Map<string, string>();
    return this.#logged<Signed>("block forged").flatMap(({ slot, publicKey, id }) =>
      firstValue(ids, `${slot} ${publicKey}`, id) === id ? [] : [slot],
    );
  }

  misses(): readonly Miss[] {
    return this.#logged<Miss>("slot missed");
  }

  residentMib(): number {
    const file = `/proc/${this.#started.member.running?.child.pid}/status`;
    if (!existsSync(file)) return 0;
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(file, "utf8"))?.[1] ?? 0) / 1024;
  }

  /** Waits until the consensus thread is free. Returns its longest ticks since the last call. */
  longestTick(): Promise<LongestTick> {
    return this.#started.ticks.take(() => this.hasEnded);
  }

  /** Counts slots of its delegates since it started, and open live streams; undefined if it does not respond. */
  async figures() {
    const request = { path: "/metrics", from: OBSERVER, headers: WITH_TOKEN };
    const { status, text } = await ask(this.target, request);
    if (status !== 200) return undefined;
    const value = (name: string) => Number(new RegExp(`^uniknode_${name} (\\S+)$`, "m").exec(text)?.[1]);
    return {
      forged: value("forger_blocks_forged_total"),
      missed: value("forger_slots_missed_total"),
      streams: value("streams"),
    };
  }

  /** Returns the figures after the node has noticed that the clients of its live streams are gone; with these streams, if it does not. */
  async figuresWithoutStreams() {
    let figures: Awaited<ReturnType<typeof this.figures>>;
    const isClosed = async () => {
      figures = await this.figures();
      return !figures?.streams;
    };
    await until("the live streams are closed", isClosed).catch(() => {});
    return figures;
  }

  async untilForged(count: number): Promise<void> {
    const hasForged = () => this.#logged("block forged").length >= count;
    try {
      await until("the node forges", () => this.hasEnded || hasForged());
      if (!hasForged()) throw new Error("the node has ended");
    } catch (error) {
      await this.close();
      throw new Error(`${(error as Error).message}:\n${this.lastLines()}`);
    }
  }

  stop(): Promise<void> {
    return this.#started.member.end("SIGTERM");
  }

  /** Stops the node, and removes its folder. */
  async close(): Promise<void> {
    await this.stop();
    rmSync(this.#started.folder, { recursive: true, force: true });
  }
}
