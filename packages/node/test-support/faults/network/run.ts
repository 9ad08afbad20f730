/** Runs a network under faults, and checks its state afterwards. */
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../../src/platform/present.ts";
import { WAIT_MS } from "../../process/until.ts";
import { createHosts } from "../actors/hosts.ts";
import { createDraws } from "../actors/random.ts";
import { deliveredChain } from "./delivered-chain.ts";
import { watchFacts } from "./facts-watch.ts";
import { injectFaults } from "./faults.ts";
import { createFleet, type Fleet } from "./fleet.ts";
import { startLoad } from "./load.ts";
import { judge, type Verdict } from "./verdict.ts";

export type NetworkOptions = {
  readonly seed: number;
  readonly nodes: number;
  /** Seconds of fault injection. */
  readonly seconds: number;
  /** Seconds of a slot. */
  readonly blocktime: number;
  /** Names of the only faults; default: all. */
  readonly only?: readonly string[];
  readonly log: (line: string) => void;
};

/** Timeout for the nodes to converge after the faults. */
const RECOVERY_MS = 2 * WAIT_MS;
/** Timeout for the accounts to complete their work after the faults. */
const LOAD_MS = 3 * WAIT_MS;
/** Blocks on which all nodes must agree at the end. */
const AGREED_BLOCKS = 3;
/** Printed characters of the output of each node. */
const SHOWN_CHARACTERS = 2_000;

export async function runNetwork({
  seed,
  nodes,
  seconds,
  blocktime,
  ...options
}: NetworkOptions): Promise<Verdict> {
  const { only, log } = options;
  const random = createDraws(seed);
  const hosts = createHosts(nodes);
  try {
    const fleet = await createFleet(hosts, nodes, blocktime);
    try {
      const load = startLoad(fleet, random);
      const facts = watchFacts(fleet);
      await injectFaults(fleet, random, { untilMs: performance.now() + seconds * 1_000, only, log });
      log("the faults are over");
      await Promise.race([load.finished, sleep(LOAD_MS, undefined, { ref: false })]);
      await load.stop();
      await agree(fleet, log);
      await facts.stop();
      await Promise.all(fleet.nodes.map((node) => node.end("SIGTERM")));
      const verdict = await judge(fleet, facts);
      if (verdict.faults.length > 0)
        for (const { name, output } of fleet.nodes) log(`${name}:\n${output().slice(-SHOWN_CHARACTERS)}`);
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
async function agree({ nodes }: Fleet, log: (line: string) => void): Promise<void> {
  const heads = () =>
    Promise.all(
      nodes.map(async (node) => {
        const blockchain = await (await node.client())?.get("/api/blockchain").catch(() => undefined);
        return (blockchain as { block: { height: number; id: string } } | undefined)?.block;
      }),
    );
  const highest = Math.max(...(await heads()).map((head) => head?.height ?? 0));
  const untilMs = performance.now() + RECOVERY_MS;
  for (;;) {
    const now = await heads();
    const delivered = nodes.map(({ receiver }) => deliveredChain(receiver.arrivals).chain.at(-1)?.id);
    const isOne = now.every((head, index) => head && head.id === now[0]?.id && delivered[index] === head.id);
    if (isOne && present(now[0]).height >= highest + AGREED_BLOCKS) return;
    if (performance.now() > untilMs) {
      log(`no agreement: ${now.map((head) => `${head?.height} ${head?.id.slice(0, 8)}`).join(", ")}`);
      return;
    }
    await sleep(200);
  }
}
