/** Runs nodes on separate hosts under faults, which end by themselves, and checks afterwards that they agree. */
import { setTimeout as sleep } from "node:timers/promises";
import { isWithin } from "../../../src/platform/notifier.ts";
import { present } from "../../../src/platform/present.ts";
import { createHosts, missingForHosts } from "../../process/hosts.ts";
import { WAIT_MS } from "../../process/until.ts";
import { DeliveredChain } from "../checks/delivered-chain.ts";
import {
  Background,
  type Fault,
  type Figures,
  fault,
  firstValue,
  type Run,
  type Scenario,
  weighted,
} from "../scenario.ts";
import { closeFleet, type Fleet, type FleetNode, NODES, startFleet } from "./fleet.ts";
import { Load } from "./load.ts";
import { Verdict } from "./verdict.ts";

/** Timeout for the nodes to converge after the faults. */
const RECOVERY_MS = 2 * WAIT_MS;
/** Timeout for the accounts to complete their work after the faults. */
const LOAD_MS = 4 * WAIT_MS;
/** Blocks on which all nodes must agree at the end. */
const AGREED_BLOCKS = 3;
const SHOWN_CHARACTERS = 2_000;
/** Pause between two comparisons of the fact trees: a round of seven nodes takes longer. */
const COMPARE_EVERY_MS = 2_000;

const pause = (seconds: number) => sleep(seconds * 1_000);

const FAULTS: readonly Fault<Fleet>[] = [
  fault("node killed", 2, ({ nodes }, random) =>
    random.pick(nodes).member.restart("SIGKILL", random.integer(0, 12)),
  ),
  fault("node restarted", 1, ({ nodes }, random) => random.pick(nodes).member.restart("SIGTERM", 0)),
  fault("node stopped", 1, ({ nodes }, random) => random.pick(nodes).member.pauseFor(random.integer(2, 20))),
  // A slow host: the process is paused repeatedly for short times.
  fault("node slow", 1, async ({ nodes }, random) => {
    const { member } = random.pick(nodes);
    const times = random.integer(5, 15);
    for (let time = 0; time < times; time++) {
      await member.pauseFor(random.integer(2, 10) / 10);
      await pause(random.integer(2, 6) / 10);
    }
    return `${member.name} stuttered ${times} times`;
  }),
  fault("partition", 2, async ({ nodes, hosts }, random) => {
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
  }),
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
    fleet = await startFleet(run, hosts);
    const load = new Load(fleet, random);
    const stopComparing = watchFacts(fleet, faults);
    const possible = weighted(FAULTS, only);
    const untilMs = performance.now() + seconds * 1_000;
    while (performance.now() < untilMs) {
      await pause(random.integer(1, 8));
      log(String(await random.pick(possible).inject(fleet, random)));
    }
    log("the faults are over");
    await isWithin(load.finished, LOAD_MS);
    await load.stop();
    await agree(fleet, log);
    const comparedTrees = await stopComparing();
    await Promise.all(fleet.nodes.map(({ member }) => member.end("SIGTERM")));
    const figures = await new Verdict(fleet).judge(faults);
    if (faults.length > 0)
      for (const { member } of fleet.nodes) log(`${member.name}:\n${member.output.slice(-SHOWN_CHARACTERS)}`);
    return { ...figures, comparedTrees };
  } finally {
    if (fleet) await closeFleet(fleet);
    hosts.remove();
  }
}

/** Checks repeatedly that the fact trees of one size have one root. */
function watchFacts({ nodes }: Fleet, faults: string[]) {
  const roots = new Map<number, string>();
  /** Nodes with the first root, by tree size. */
  const owners = new Map<number, Set<number>>();

  async function look({ client }: FleetNode, index: number): Promise<void> {
    const checkpoint = await client.facts.checkpoint().catch(() => undefined);
    if (!checkpoint) return;
    const { size, root } = checkpoint.data;
    const first = firstValue(roots, size, root);
    const known = firstValue(owners, size, new Set());
    if (first === root) known.add(index);
    else faults.push(`node ${index} has root ${root} of ${size} facts, nodes ${[...known]} ${first}`);
  }

  const lookAtAll = async () => void (await Promise.all(nodes.map(look)));
  // A paused node responds later.
  const watching = new Background(COMPARE_EVERY_MS, () => isWithin(lookAtAll(), COMPARE_EVERY_MS));
  /** Stops, and returns the number of sizes that two or more nodes had. */
  return async () => {
    await watching.stop();
    return [...owners.values()].filter(({ size }) => size > 1).length;
  };
}

/** Waits until all nodes have one chain that is some blocks longer than any was, and receivers have its head. */
async function agree({ nodes }: Fleet, log: (line: string) => void): Promise<void> {
  const headOf = async ({ client }: FleetNode) =>
    (await client.blockchain.get().catch(() => undefined))?.data.block;
  const heads = () => Promise.all(nodes.map(headOf));
  const highest = Math.max(...(await heads()).map((head) => head?.height ?? 0));
  const untilMs = performance.now() + RECOVERY_MS;
  for (;;) {
    const now = await heads();
    const delivered = nodes.map(({ receiver }) => new DeliveredChain(receiver.arrivals).chain.at(-1)?.id);
    const isOne = now.every((head, index) => head && head.id === now[0]?.id && delivered[index] === head.id);
    if (isOne && present(now[0]).height >= highest + AGREED_BLOCKS) return;
    if (performance.now() > untilMs) {
      log(`no agreement: ${now.map((head) => `${head?.height} ${head?.id.slice(0, 8)}`).join(", ")}`);
      return;
    }
    await sleep(200);
  }
}
