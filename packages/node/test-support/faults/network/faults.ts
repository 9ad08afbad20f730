/** Seeded faults of a network. Each fault ends by itself; at the end every node runs. */
import { setTimeout as sleep } from "node:timers/promises";
import { killFor, pauseFor, restartAfter } from "../actors/member.ts";
import type { Fault } from "../scenario.ts";
import type { Fleet } from "./fleet.ts";

const seconds = (count: number) => sleep(count * 1_000);

/** Slow host: pauses the process repeatedly for short times. */
const stutter: Fault<Fleet>["inject"] = async ({ nodes }, random) => {
  const node = random.pick(nodes);
  const times = random.integer(5, 15);
  for (let time = 0; time < times; time++) {
    await pauseFor(node, random.integer(2, 10) / 10);
    await seconds(random.integer(2, 6) / 10);
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
  await seconds(length);
  for (const [a, b] of roads) hosts.heal(a, b);
  const over = isOver.flatMap((side, index) => (side ? [index] : []));
  return `nodes ${over.join(" ")} were apart from the others for ${length} s`;
};

export const FAULTS: readonly Fault<Fleet>[] = [
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
