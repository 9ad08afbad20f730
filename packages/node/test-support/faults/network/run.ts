/** Runs nodes on separate hosts under faults, and checks afterwards that they agree. Each fault ends by itself; at the end every node runs. */
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../../src/platform/present.ts";
import { createHosts, missingForHosts } from "../../process/hosts.ts";
import { WAIT_MS } from "../../process/until.ts";
import { deliveredChain } from "../actors/block-receiver.ts";
import { killFor, pauseFor, restartAfter } from "../actors/member.ts";
import { type Fault, type Figures, type Run, repeat, type Scenario, weighted } from "../scenario.ts";
import { createFleet, type Fleet } from "./fleet.ts";
import { startLoad } from "./load.ts";
import { judge } from "./verdict.ts";

const NODES = 7;
/** Seconds of a slot. */
const BLOCKTIME = 4;
/** Timeout for the nodes to converge after the faults. */
const RECOVERY_MS = 2 * WAIT_MS;
/** Timeout for the accounts to complete their work after the faults. */
const LOAD_MS = 4 * WAIT_MS;
/** Blocks on which all nodes must agree at the end. */
const AGREED_BLOCKS = 3;
/** Printed characters of the output of each node. */
const SHOWN_CHARACTERS = 2_000;
/** Pause between two comparisons of the fact trees: a round of seven nodes takes longer. */
const COMPARE_EVERY_MS = 2_000;

const pause = (seconds: number) => sleep(seconds * 1_000);

/** Slow host: pauses the process repeatedly for short times. */
const stutter: Fault<Fleet>["inject"] = async ({ nodes }, random) => {
  const node = random.pick(nodes);
  const times = random.integer(5, 15);
  for (let time = 0; time < times; time++) {
    await pauseFor(node, random.integer(2, 10) / 10);
    await pause(random.integer(2, 6) / 10);
  }
  return `${node.name} stuttered ${times} times`;
};

const partition: Fault<Fleet>["inject"] = async ({ nodes, hosts }, random) => {
  const first = random.integer(0, nodes.length - 1);
  const isOver = nodes.map((_, index) => index === first || random.chance(0.3));
  const length = random.integer(5, 25);
  const roads = isOver.flatMap((side, a) =>
    isOver.flatMap((other, b) => (a < b && side !== other ? [[a, b] as const] : [])),
  );
  for (const [a, b] of roads) hosts.cut(a, b);
  await pause(length);
  for (const [a, b] of roads) hosts.heal(a, b);
  const over = isOver.flatMap((side, index) => (side ? [index] : []));
  return `nodes ${over.join(" ")} were apart from the others for ${length} s`;
};

const FAULTS: readonly Fault<Fleet>[] = [
  {
    ...{ name: "node killed", weight: 2 },
    inject: ({ nodes }, random) => killFor(random.pick(nodes), random.integer(0, 12)),
  },
  { name: "node restarted", weight: 1, inject: ({ nodes }, random) => restartAfter(random.pick(nodes), 0) },
  {
    ...{ name: "node stopped", weight: 1 },
    inject: ({ nodes }, random) => pauseFor(random.pick(nodes), random.integer(2, 20)),
  },
  { name: "node slow", weight: 1, inject: stutter },
  { name: "partition", weight: 2, inject: partition },
];

export const scenario: Scenario = {
  description: `${NODES} nodes on separate hosts, under transactions of every type, must agree`,
  minutes: 4,
  faultNames: FAULTS.map(({ name }) => name),
  missing: missingForHosts,
  run: runNetwork,
};

async function runNetwork(run: Run): Promise<Figures> {
  const { random, only, log, faults, seconds } = run;
  const hosts = createHosts(NODES);
  let fleet: Fleet | undefined;
  try {
    fleet = await createFleet(run, hosts, { count: NODES, blocktime: BLOCKTIME });
    const load = startLoad(fleet, random);
    const facts = watchFacts(fleet, faults);
    const possible = weighted(FAULTS, only);
    const untilMs = performance.now() + seconds * 1_000;
    while (performance.now() < untilMs) {
      await pause(random.integer(1, 8));
      log(String(await random.pick(possible).inject(fleet, random)));
    }
    log("the faults are over");
    await Promise.race([load.finished, sleep(LOAD_MS, undefined, { ref: false })]);
    await load.stop();
    await agree(fleet, log);
    await facts.stop();
    await Promise.all(fleet.nodes.map((node) => node.end("SIGTERM")));
    const figures = await judge(fleet, faults);
    if (faults.length > 0)
      for (const { name, output } of fleet.nodes) log(`${name}:\n${output().slice(-SHOWN_CHARACTERS)}`);
    return { ...figures, comparedTrees: facts.compared() };
  } finally {
    await fleet?.close();
    hosts.remove();
  }
}

/** Polls the roots of the fact trees of all nodes: trees of one size must have one root. */
function watchFacts({ nodes }: Fleet, faults: string[]) {
  /** Root and nodes by tree size. */
  const seen = new Map<number, { readonly root: string; readonly nodes: Set<number> }>();

  async function look(node: Fleet["nodes"][number], index: number): Promise<void> {
    const checkpoint = await (await node.client())?.get("/api/v2/facts/checkpoint").catch(() => undefined);
    if (!checkpoint) return;
    const { size, root } = checkpoint as { readonly size: number; readonly root: string };
    const known = seen.get(size) ?? { root, nodes: new Set() };
    seen.set(size, known);
    if (known.root === root) known.nodes.add(index);
    else
      faults.push(`node ${index} has root ${root} of ${size} facts, nodes ${[...known.nodes]} ${known.root}`);
  }

  return {
    ...repeat(
      () => COMPARE_EVERY_MS,
      // A paused node responds later.
      () => Promise.race([Promise.all(nodes.map(look)), sleep(COMPARE_EVERY_MS, undefined, { ref: false })]),
    ),
    /** Sizes that two or more nodes had. */
    compared: () => [...seen.values()].filter(({ nodes }) => nodes.size > 1).length,
  };
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
