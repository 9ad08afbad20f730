/** Runs a network under faults, and checks its state afterwards. */
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../src/platform/present.ts";
import { createDraws } from "../simulation/random.ts";
import { watchFacts } from "./facts-watch.ts";
import { createFleet, type Fleet } from "./fleet.ts";
import { startLoad } from "./load.ts";
import { letHappen } from "./mishaps.ts";
import { createHosts } from "./namespaces.ts";
import { judge, type Verdict } from "./verdict.ts";

export type TrialOptions = {
  readonly seed: number;
  readonly nodes: number;
  /** Seconds of fault injection. */
  readonly seconds: number;
  /** Seconds of a slot. */
  readonly blocktime: number;
  readonly log: (line: string) => void;
};

/** Timeout for the nodes to converge after the faults. */
const RECOVERY_MS = 120_000;
/** Timeout for the accounts to complete their work after the faults. */
const LOAD_MS = 180_000;
/** Blocks on which all nodes must agree at the end. */
const AGREED_BLOCKS = 3;

export async function runTrial({ seed, nodes, seconds, blocktime, log }: TrialOptions): Promise<Verdict> {
  const random = createDraws(seed);
  const hosts = createHosts(nodes);
  try {
    const fleet = await createFleet(hosts, nodes, blocktime);
    try {
      const load = startLoad(fleet, random);
      const facts = watchFacts(fleet);
      await letHappen(fleet, random, { untilMs: Date.now() + seconds * 1_000, log });
      log("the trouble is over");
      await Promise.race([load.finished, sleep(LOAD_MS, undefined, { ref: false })]);
      await load.stop();
      await agree(fleet, log);
      await facts.stop();
      log(`trees of facts compared at ${facts.compared()} sizes`);
      await Promise.all(Array.from({ length: nodes }, (_, index) => fleet.stop(index, "SIGTERM")));
      const verdict = await judge(fleet, facts);
      if (verdict.faults.length > 0) {
        for (let index = 0; index < nodes; index++) log(`node ${index}:\n${fleet.linesOf(index, 15)}`);
      }
      return verdict;
    } finally {
      await fleet.close();
    }
  } finally {
    hosts.remove();
  }
}

/**
 * Waits until all nodes have one chain that is some blocks longer than any was, and receivers have its head.
 */
async function agree(fleet: Fleet, log: (line: string) => void): Promise<void> {
  const indexes = Array.from({ length: fleet.count }, (_, index) => index);
  const heads = () =>
    Promise.all(
      indexes.map(async (index) => {
        const blockchain = await (await fleet.client(index))?.get("/api/blockchain").catch(() => undefined);
        return (blockchain as { block: { height: number; id: string } } | undefined)?.block;
      }),
    );
  const highest = Math.max(...(await heads()).map((head) => head?.height ?? 0));
  const untilMs = Date.now() + RECOVERY_MS;
  for (;;) {
    const now = await heads();
    const delivered = fleet.accounts.map(({ chain }) => chain.at(-1)?.id);
    const isOne = now.every((head, index) => head && head.id === now[0]?.id && delivered[index] === head.id);
    if (isOne && present(now[0]).height >= highest + AGREED_BLOCKS) return;
    if (Date.now() > untilMs) {
      log(`no agreement: ${now.map((head) => `${head?.height} ${head?.id.slice(0, 8)}`).join(", ")}`);
      return;
    }
    await sleep(200);
  }
}
