/** Random faults of a node. Each may fail: the process may die at any moment. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../../src/platform/present.ts";
import { missingProgram } from "../../process/available.ts";
import { setClock } from "../../process/clock.ts";
import { MAX_DEPTH, reorganise } from "../actors/dev-chain.ts";
import { BEHAVIOURS } from "../actors/receiver.ts";
import { changeSubject, comeBack, leave, replay } from "../actors/subject.ts";
import type { Fault } from "../scenario.ts";
import type { World } from "./world.ts";

const MAX_JUMP_MS = 3_600_000;
const MAX_JUMP_BACK_MS = 2_000;
const SECONDS_PER_DAY = 86_400;

type Inject = (world: World) => Promise<unknown>;

const submit: Inject = async ({ submit, client, accepted }) => {
  for (const id of await submit(client)) accepted.add(id);
};

const mine: Inject = ({ random, control }) => control.post("/api/dev/mine", { blocks: random.integer(1, 4) });

const restore: Inject = async ({ random, control }) => {
  const { id } = (await control.post("/api/dev/snapshot")) as { id: string };
  await control.post("/api/dev/mine", { blocks: random.integer(1, 3) });
  await control.post("/api/dev/restore", { id }, [200, 409]);
};

const travel: Inject = ({ random, control }) => {
  const seconds = random.chance(0.1) ? random.integer(1, 2 * SECONDS_PER_DAY) : random.integer(1, 60);
  return control.post("/api/dev/travel", { seconds });
};

const jump: Inject = async (world) => {
  const { random, folder } = world;
  const isBack = random.chance(0.3) && world.clockAheadMs > MAX_JUMP_BACK_MS;
  world.clockAheadMs += isBack
    ? -random.integer(1, MAX_JUMP_BACK_MS)
    : random.integer(1, random.chance(0.2) ? MAX_JUMP_MS : 20_000);
  setClock(folder, world.clockAheadMs);
};

const changeBehaviour: Inject = async ({ random, subjects }) => {
  const { receiver } = random.pick(subjects);
  await receiver.become(random.chance(0.4) ? "well" : random.pick(BEHAVIOURS));
};

const changeRegister: Inject = (world) =>
  changeSubject(world.random.pick(world.restless), world.random.pick(world.kinds), world);

const leaveForGood: Inject = ({ random, restless }) => leave(random.pick(restless));

const comeBackAll: Inject = async (world) => {
  for (const subject of world.restless) await comeBack(subject, world);
};

const askForPast: Inject = async (world) => {
  const { random, historians, firstHeight, control } = world;
  const historian = random.pick(historians);
  if (random.chance(0.2)) {
    await control.remove(`/api/webhooks/${historian.id}/replay`);
    return;
  }
  const fromHeight = firstHeight + random.integer(0, MAX_DEPTH);
  await replay(historian, { fromHeight, toHeight: fromHeight + random.integer(0, 100) }, world);
};

const rotate: Inject = async ({ random, steady, control }) => {
  const { id, receiver } = random.pick(steady);
  const { token } = (await control.post(`/api/webhooks/${id}/rotate`, { overlapSeconds: 60 })) as {
    token: string;
  };
  receiver.tokens.add(token);
};

const ping: Inject = ({ random, steady, control }) =>
  control.post(`/api/webhooks/${random.pick(steady).id}/ping`);

const resend: Inject = ({ random, steady, control }) =>
  control.post(`/api/webhooks/${random.pick(steady).id}/deliveries/retry`, { since: 0 });

/** The soft limit of the size of files that a process may write, with `prlimit` of Linux. */
const limitFiles = (processId: number, soft: string) =>
  void execFileSync("prlimit", ["--pid", `${processId}`, `--fsize=${soft}`], { stdio: "ignore" });

/** A full disk: every write that extends a file fails for a while. */
const fill: Inject = async ({ random, data, node }) => {
  const { child } = present(node.process(), "a running node");
  const wal = statSync(join(data, "node.sqlite-wal")).size;
  limitFiles(present(child.pid), `${wal + random.integer(0, 20_000)}:`);
  try {
    await sleep(random.integer(100, 700));
  } finally {
    if (child.exitCode === null && child.signalCode === null) limitFiles(present(child.pid), "unlimited:");
  }
};
const canFill = process.platform === "linux" && missingProgram("prlimit") === undefined;

const pause: Inject = ({ random }) => sleep(random.integer(1, 200));

const WEIGHTS: readonly (readonly [string, Inject, number])[] = [
  ["submission", submit, 30],
  ["mining", mine, 10],
  ["reorganisation", ({ control, random }) => reorganise(control, random), 12],
  ["restoring", restore, 2],
  ["travel", travel, 3],
  ["clock jump", jump, 6],
  ["behaviour", changeBehaviour, 25],
  ["register change", changeRegister, 4],
  ["leaving", leaveForGood, 2],
  ["coming back", comeBackAll, 2],
  ["replay", askForPast, 5],
  ["rotation", rotate, 1],
  ["ping", ping, 2],
  ["resending", resend, 2],
  ...(canFill ? ([["full disk", fill, 3]] as const) : []),
  ["pause", pause, 20],
];

export const FAULTS: readonly Fault<World>[] = WEIGHTS.map(([name, inject, weight]) => ({
  ...{ name, inject, weight },
}));

/** Accepted transactions leave the chain and the pool for reasons that these do not have. */
const KEEPS_TRANSACTIONS: ReadonlySet<string> = new Set([
  "submission",
  "mining",
  "behaviour",
  "pause",
  "ping",
]);

/** Returns true if every accepted transaction is still on the chain or pending. */
export const mustKeepAccepted = ({ happened }: Pick<World, "happened">): boolean =>
  [...happened.keys()].every((name) => KEEPS_TRANSACTIONS.has(name));

/** Injects a fault. The process may be killed meanwhile, or its disk be full: the resulting state is checked at the end. */
export async function inject(world: World, { name, inject }: Fault<World>): Promise<void> {
  world.happened.set(name, (world.happened.get(name) ?? 0) + 1);
  await inject(world, world.random).catch(() => {});
}
