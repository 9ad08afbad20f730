/** A node under siege: its addresses, and its measurements from outside. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createNetwork, createSlots, type Slots } from "@uniknode/protocol";
import type { DevAccount } from "../../../packages/node/src/dev-chain/keys.ts";
import { present } from "../../../packages/node/src/platform/present.ts";
import { type NetworkShape, testNetwork } from "../../../packages/node/test-support/peers/test-network.ts";
import type { Running } from "../../../packages/node/test-support/process/uniknode.ts";
import { readMetrics, until } from "./requests.ts";
import { type LongestTick, readTicks } from "./ticks.ts";

/** Plain values, so that attacks can run in a separate thread. */
export type Target = {
  readonly host: string;
  readonly httpPort: number;
  /** Not open on a dev chain. */
  readonly peerPort: number;
  /** Secret of the webhook register, for attacks by a client that has it. */
  readonly token: string;
  readonly network: NetworkShape;
  /** Path of the node's data for this process. */
  readonly diskFolder: string;
  /** File with the offset of the node's clock in milliseconds, writable at any time. */
  readonly clockFile: string;
};

/** Period in which slots are missed for an external reason, by the clock of the node. */
export type Outage = {
  readonly fromMs: number;
  readonly toMs: number;
  /** Text that the reason of such a slot must contain. */
  readonly reason: string;
};

export type Misses = {
  /** Missed slots of each outage. */
  readonly expectedMisses: readonly { readonly reason: string; readonly slots: number }[];
  /** Other missed slots, each with its reason. */
  readonly otherMisses: readonly string[];
};

/** Members of log lines. */
type Miss = { readonly slot: number; readonly reason: string };
type Signed = { readonly slot: number; readonly publicKey: string; readonly id: string };

/** A started process, and its files. */
type Started = {
  readonly process: Running;
  readonly target: Target;
  readonly folder: string;
  readonly ticksFile: string;
  /** Nodes that had the same keys before. */
  readonly earlier?: readonly SiegedNode[];
};

const STOP_TIMEOUT_MS = 60_000;
/** Address of the reader of metrics. */
const OBSERVER = "127.8.0.1";

/** Delegate whose keys the attackers have; the node has the keys of all others. */
export const hostileDelegate = ({ network }: Pick<Target, "network">): DevAccount =>
  present(testNetwork(network).delegates.at(-1));

export class SiegedNode {
  readonly target: Target;
  readonly #slots: Slots;
  readonly #process: Running;
  readonly #folder: string;
  readonly #ticks: ReturnType<typeof readTicks>;
  readonly #earlier: readonly SiegedNode[];

  constructor({ process, target, folder, ticksFile, earlier = [] }: Started) {
    this.target = target;
    this.#slots = createSlots(createNetwork(testNetwork(target.network).files));
    this.#process = process;
    this.#folder = folder;
    this.#ticks = readTicks(ticksFile);
    this.#earlier = earlier;
  }

  get hasEnded(): boolean {
    const { exitCode, signalCode } = this.#process.child;
    return exitCode !== null || signalCode !== null;
  }

  /** The last lines of its log. */
  lastLines(): string {
    return this.#process.stderr().split("\n").slice(-20).join("\n");
  }

  /** Lines of its log with this message. */
  #logged<Line>(message: string): Line[] {
    return this.#process
      .stderr()
      .split("\n")
      .filter((line) => line.endsWith("}") && line.includes(`"msg":"${message}"`))
      .map((line) => JSON.parse(line) as Line);
  }

  /** Blocks signed with its keys, by all processes that had them. */
  #signed(): Signed[] {
    const earlier = this.#earlier.flatMap((node) => node.#signed());
    return [...earlier, ...this.#logged<Signed>("block forged")];
  }

  /**
   * Slots with several blocks signed with the same key. Two keys can have the same slot on two branches: the
   * order of the delegates follows the height.
   */
  slotsSignedTwice(): number[] {
    const ids = new Map<string, string>();
    return this.#signed().flatMap(({ slot, publicKey, id }) => {
      const signing = `${slot} ${publicKey}`;
      const known = ids.get(signing) ?? id;
      ids.set(signing, known);
      return known === id ? [] : [slot];
    });
  }

  countMisses(): number {
    return this.#logged("slot missed").length;
  }

  /** Missed slots after the first ones: slots within an outage that have its reason, and all others. */
  missesAfter(first: number, outages: readonly Outage[]): Misses {
    const slotAt = (unixMs: number) => this.#slots.slotAt(this.#slots.timeAt(unixMs));
    const isOf = ({ fromMs, toMs, reason }: Outage, miss: Miss) =>
      miss.slot >= slotAt(fromMs) && miss.slot <= slotAt(toMs) && miss.reason.includes(reason);
    const missed = this.#logged<Miss>("slot missed").slice(first);
    return {
      expectedMisses: outages
        .map((outage) => ({
          reason: outage.reason,
          slots: missed.filter((miss) => isOf(outage, miss)).length,
        }))
        .filter(({ slots }) => slots > 0),
      otherMisses: missed
        .filter((miss) => !outages.some((outage) => isOf(outage, miss)))
        .map(({ slot, reason }) => `slot ${slot}, "${reason}"`),
    };
  }

  /** Resident memory, MiB. */
  residentMib(): number {
    const file = `/proc/${this.#process.child.pid}/status`;
    if (!existsSync(file)) return 0;
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(file, "utf8"))?.[1] ?? 0) / 1024;
  }

  /** Waits until the consensus thread is free. Returns its longest ticks since the last call. */
  longestTick(): Promise<LongestTick> {
    return this.#ticks.take(() => this.hasEnded);
  }

  /** Counts slots of its delegates since it started, and open live streams; undefined if it does not respond. */
  async figures() {
    const value = await readMetrics(this.target, OBSERVER).catch(() => undefined);
    return (
      value && {
        forged: value("uniknode_forger_blocks_forged_total"),
        missed: value("uniknode_forger_slots_missed_total"),
        streams: value("uniknode_streams"),
      }
    );
  }

  /** Waits until the process has forged this many blocks. */
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

  /** Stops the node, and keeps its folder. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const { child, ended } = this.#process;
    child.kill(signal);
    const deadline = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(deadline);
  }

  /** Stops the node, and removes its folder. */
  async close(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
