/** Seeded faults of a network. Each fault ends by itself; at the end every node runs. */
import { setTimeout } from "node:timers/promises";
import type { Random } from "../actors/random.ts";
import type { Fleet } from "./fleet.ts";

const seconds = (count: number) => setTimeout(count * 1_000);

type Fault = (fleet: Fleet, random: Random) => Promise<string>;

const kill: Fault = async ({ nodes }, random) => {
  const node = random.pick(nodes);
  const pause = random.integer(0, 12);
  await node.end("SIGKILL");
  await seconds(pause);
  await node.start();
  return `${node.name} was killed, and started after ${pause} s`;
};

const restart: Fault = async ({ nodes }, random) => {
  const node = random.pick(nodes);
  await node.end("SIGTERM");
  await node.start();
  return `${node.name} was restarted`;
};

const sleep: Fault = async ({ nodes }, random) => {
  const node = random.pick(nodes);
  const length = random.integer(2, 20);
  node.pause();
  await seconds(length);
  node.resume();
  return `${node.name} slept for ${length} s`;
};

/** Slow host: pauses the process repeatedly for short times. */
const stutter: Fault = async ({ nodes }, random) => {
  const node = random.pick(nodes);
  const times = random.integer(5, 15);
  for (let time = 0; time < times; time++) {
    node.pause();
    await seconds(random.integer(2, 10) / 10);
    node.resume();
    await seconds(random.integer(2, 6) / 10);
  }
  return `${node.name} stuttered ${times} times`;
};

const partition: Fault = async ({ nodes, hosts }, random) => {
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

/** Each as often as it is drawn. */
const FAULTS: Readonly<Record<string, readonly [weight: number, fault: Fault]>> = {
  "node killed": [2, kill],
  "node restarted": [1, restart],
  "node stopped": [1, sleep],
  "node slow": [1, stutter],
  partition: [2, partition],
};

export const NETWORK_FAULTS = Object.keys(FAULTS);

export type Injecting = {
  readonly untilMs: number;
  /** Names of the only faults; default: all. */
  readonly only: readonly string[] | undefined;
  readonly log: (line: string) => void;
};

/** Injects one fault after another until the time is over, and reports each. */
export async function injectFaults(
  fleet: Fleet,
  random: Random,
  { untilMs, only = NETWORK_FAULTS, log }: Injecting,
): Promise<void> {
  const drawn = Object.entries(FAULTS).flatMap(([name, [weight, fault]]) =>
    only.includes(name) ? Array<Fault>(weight).fill(fault) : [],
  );
  while (performance.now() < untilMs) {
    await seconds(random.integer(1, 8));
    log(await random.pick(drawn)(fleet, random));
  }
}
