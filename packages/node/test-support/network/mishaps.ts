/** Seeded faults of a network. Each fault ends by itself; at the end every node runs. */
import type { Random } from "../simulation/random.ts";
import type { Fleet } from "./fleet.ts";

const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1_000));

type Mishap = (fleet: Fleet, random: Random) => Promise<string>;

const kill: Mishap = async (fleet, random) => {
  const index = random.integer(0, fleet.count - 1);
  const pause = random.integer(0, 12);
  await fleet.stop(index, "SIGKILL");
  await seconds(pause);
  await fleet.start(index);
  return `node ${index} was killed, and started after ${pause} s`;
};

const restart: Mishap = async (fleet, random) => {
  const index = random.integer(0, fleet.count - 1);
  await fleet.stop(index, "SIGTERM");
  await fleet.start(index);
  return `node ${index} was restarted`;
};

const sleep: Mishap = async (fleet, random) => {
  const index = random.integer(0, fleet.count - 1);
  const length = random.integer(2, 20);
  fleet.signal(index, "SIGSTOP");
  await seconds(length);
  fleet.signal(index, "SIGCONT");
  return `node ${index} slept for ${length} s`;
};

/** Slow host: pauses the process repeatedly for short times. */
const stutter: Mishap = async (fleet, random) => {
  const index = random.integer(0, fleet.count - 1);
  const times = random.integer(5, 15);
  for (let time = 0; time < times; time++) {
    fleet.signal(index, "SIGSTOP");
    await seconds(random.integer(2, 10) / 10);
    fleet.signal(index, "SIGCONT");
    await seconds(random.integer(2, 6) / 10);
  }
  return `node ${index} stuttered ${times} times`;
};

const partition: Mishap = async (fleet, random) => {
  const first = random.integer(0, fleet.count - 1);
  const isOver = Array.from({ length: fleet.count }, (_, index) => index === first || random.chance(0.3));
  const length = random.integer(5, 25);
  const roads = isOver.flatMap((side, a) =>
    isOver.flatMap((other, b) => (a < b && side !== other ? [[a, b] as const] : [])),
  );
  for (const [a, b] of roads) fleet.hosts.cut(a, b);
  await seconds(length);
  for (const [a, b] of roads) fleet.hosts.heal(a, b);
  const over = isOver.flatMap((side, index) => (side ? [index] : []));
  return `nodes ${over.join(" ")} were apart from the others for ${length} s`;
};

const MISHAPS: readonly Mishap[] = [kill, kill, restart, sleep, stutter, partition, partition];

/** Injects one fault after another until the time is over, and reports each. */
export async function letHappen(
  fleet: Fleet,
  random: Random,
  { untilMs, log }: { untilMs: number; log: (line: string) => void },
): Promise<void> {
  while (Date.now() < untilMs) {
    await seconds(random.integer(1, 8));
    log(await random.pick(MISHAPS)(fleet, random));
  }
}
