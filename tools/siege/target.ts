/** A node under siege: its addresses, and its measurements from outside. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createNetwork, createSlots, type Slots } from "@uniknode/protocol";
import type { DevAccount } from "../../packages/node/src/dev-chain/keys.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { type NetworkShape, testNetwork } from "../../packages/node/test-support/peers/test-network.ts";
import type { Running } from "../../packages/node/test-support/process/uniknode.ts";
import { type LongestTick, readTicks } from "./observers/ticks.ts";

/** Plain values, so that attacks can run in a separate thread. */
export type Target = {
  readonly host: string;
  readonly httpPort: number;
  /** 0 for a node without peers. */
  readonly peerPort: number;
  /** Secret of the webhook register, for attacks by a client that has it. */
  readonly token: string;
  readonly network: NetworkShape;
  /** Path of the node's data for this process. */
  readonly diskFolder: string;
  /** File with the offset of the node's clock in milliseconds, writable at any time. */
  readonly clockFile: string;
};

export type Figures = {
  /** Slots of the node's delegates since it started. */
  readonly forged: number;
  readonly missed: number;
  /** Open live streams. */
  readonly streams: number;
};

export type SiegedNode = {
  readonly target: Target;
  readonly process: Running;
  readonly slots: Slots;
  /** Lines of its log with this message. */
  logged(message: string): LogLine[];
  /** Blocks signed with its keys, by all processes that had them. */
  signed(): Signed[];
  /** Resident memory, MiB. */
  residentMib(): number;
  /** Waits until the consensus thread is free. Returns its longest ticks since the last call. */
  longestTick(): Promise<LongestTick>;
  /** @throws {Error} if the metrics request times out */
  figures(): Promise<Figures>;
  /** Stops the node, and keeps its folder. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Stops the node, and removes its folder. */
  close(): Promise<void>;
};

/** A signed block. */
export type Signed = { readonly slot: number; readonly publicKey: string; readonly id: string };

export type LogLine = Readonly<Record<string, unknown>>;

/** A started process, and its files. */
export type Started = {
  readonly process: Running;
  readonly target: Target;
  readonly folder: string;
  readonly ticksFile: string;
};

const STOP_TIMEOUT_MS = 60_000;
const FIGURES_TIMEOUT_MS = 10_000;
const FORGING_TIMEOUT_MS = 60_000;

/** Delegate whose keys the attackers have; the node has the keys of all others. */
export const hostileDelegate = ({ network }: Pick<Target, "network">): DevAccount =>
  present(testNetwork(network).delegates.at(-1));

export function siegedNode({ process, target, folder, ticksFile }: Started): SiegedNode {
  const { pid } = process.child;
  const ticks = readTicks(ticksFile);

  const logged = (message: string): LogLine[] =>
    process
      .stderr()
      .split("\n")
      .filter((line) => line.endsWith("}") && line.includes(`"msg":"${message}"`))
      .map((line) => JSON.parse(line) as LogLine);

  async function stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    process.child.kill(signal);
    const deadline = setTimeout(() => process.child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await process.ended;
    clearTimeout(deadline);
  }

  return {
    target,
    process,
    slots: createSlots(createNetwork(testNetwork(target.network).files)),
    residentMib() {
      if (!existsSync(`/proc/${pid}/status`)) return 0;
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    },
    longestTick: () => ticks.take(() => hasEnded({ process })),
    figures: () => readFigures(target),
    logged,
    signed: () => logged("block forged") as unknown as Signed[],
    stop,
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function readFigures({ host, httpPort, token }: Target): Promise<Figures> {
  const signal = AbortSignal.timeout(FIGURES_TIMEOUT_MS);
  const response = await fetch(`http://${host}:${httpPort}/metrics`, {
    headers: { authorization: token },
    signal,
  });
  const text = await response.text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
  return {
    forged: value("uniknode_forger_blocks_forged_total"),
    missed: value("uniknode_forger_slots_missed_total"),
    streams: value("uniknode_streams"),
  };
}

/** Waits until the process has forged this many blocks. */
export async function untilForged(node: SiegedNode, count: number): Promise<void> {
  const endsMs = performance.now() + FORGING_TIMEOUT_MS;
  while (node.signed().length < count) {
    if (performance.now() > endsMs || hasEnded(node)) {
      await node.close();
      throw new Error(`the node does not forge:\n${lastLines(node)}`);
    }
    await sleep(100);
  }
}

export const hasEnded = ({ process: { child } }: Pick<SiegedNode, "process">): boolean =>
  child.exitCode !== null || child.signalCode !== null;

export const lastLines = ({ process }: SiegedNode): string =>
  process.stderr().split("\n").slice(-20).join("\n");
