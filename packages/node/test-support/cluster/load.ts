/** Load on the chain during a run: transactions of several types, and reorganisations. */
import { setTimeout as sleep } from "node:timers/promises";
import type { DevAccount } from "../../src/dev-chain/keys.ts";
import { present } from "../../src/platform/present.ts";
import { runDevCommand } from "../mirror/dev-chain.ts";
import { people } from "../network/cast.ts";
import { createDraws, type Random } from "../simulation/random.ts";
import { createSubmissions } from "../simulation/submissions.ts";
import type { Cluster } from "./cluster.ts";

export type Load = {
  /** Number of accepted transactions. */
  submitted(): number;
  /** Depth of each reorganisation. */
  depths(): readonly number[];
  /** Adds no block until `resume`. The node must run. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
};

/** Deepest reorganisation. */
export const MAX_DEPTH = 40;
const SHALLOW_DEPTH = 5;
const SUBMIT_EVERY_MS = 700;
/** Shortest and longest time between two reorganisations, in seconds. */
const REORGANISE_EVERY = [2, 8] as const;

const accounts = Array.from({ length: 10 }, (_, index) => people(`account ${index}`));
/** Receives some of the transfers. */
export const watched: DevAccount = present(accounts[9]);

type Running = Pick<Cluster, "client" | "nodeUrl">;

export function startLoad({ client, nodeUrl }: Running, seed: number): Load {
  const stopping = new AbortController();
  const random = createDraws(seed);
  const submitSome = createSubmissions(accounts.slice(0, 5), { watched, people, random: createDraws(seed) });
  let submitted = 0;
  const depths: number[] = [];
  let isPaused = false;

  /** Repeats work that fails while the node is down. */
  async function repeat(pauseMs: () => number, work: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      if (!isPaused) await work().catch(() => {});
      await sleep(pauseMs(), undefined, { signal: stopping.signal }).catch(() => {});
    }
  }
  const running = Promise.all([
    repeat(
      () => SUBMIT_EVERY_MS,
      async () => {
        submitted += await submitSome(client);
      },
    ),
    repeat(
      () => random.integer(...REORGANISE_EVERY) * 1_000,
      async () => {
        depths.push(await reorganise(nodeUrl, random));
      },
    ),
  ]);
  return {
    submitted: () => submitted,
    depths: () => depths,
    async pause() {
      isPaused = true;
      await runDevCommand(nodeUrl, "forge", { enabled: false });
    },
    async resume() {
      isPaused = false;
      await runDevCommand(nodeUrl, "forge", { enabled: true });
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Mostly shallow, sometimes as deep as allowed. Returns the depth. */
async function reorganise(nodeUrl: string, random: Random): Promise<number> {
  const depth = random.chance(0.15)
    ? random.integer(SHALLOW_DEPTH + 1, MAX_DEPTH)
    : random.integer(1, SHALLOW_DEPTH);
  const blocks = depth + random.integer(1, 2);
  await runDevCommand(nodeUrl, "reorg", { depth, blocks, transactions: random.chance(0.7) });
  return depth;
}
