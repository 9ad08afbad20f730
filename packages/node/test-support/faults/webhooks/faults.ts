/** Random faults of a node. Each may fail: the process may die at any moment. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../../src/platform/present.ts";
import { missingProgram } from "../../process/available.ts";
import { MAX_DEPTH, reorganise } from "../actors/dev-chain.ts";
import { BEHAVIOURS } from "../actors/receiver.ts";
import { type Fault, fault } from "../scenario.ts";
import { moveClock, type World } from "./world.ts";

const MAX_JUMP_MS = 3_600_000;
const MAX_JUMP_BACK_MS = 2_000;
const SECONDS_PER_DAY = 86_400;

/** The soft limit of the size of files that a process may write, with `prlimit` of Linux. */
const limitFiles = (processId: number, soft: string) =>
  void execFileSync("prlimit", ["--pid", `${processId}`, `--fsize=${soft}`], { stdio: "ignore" });

/** A full disk: every write that extends a file fails for a while. */
const fullDisk = fault<World>("full disk", 3, async ({ data, node }, random) => {
  const { child } = present(node.running, "a running node");
  const wal = statSync(join(data, "node.sqlite-wal")).size;
  limitFiles(present(child.pid), `${wal + random.integer(0, 20_000)}:`);
  try {
    await sleep(random.integer(100, 700));
  } finally {
    if (child.exitCode === null && child.signalCode === null) limitFiles(present(child.pid), "unlimited:");
  }
});
const canFill = process.platform === "linux" && missingProgram("prlimit") === undefined;

export const FAULTS: readonly Fault<World>[] = [
  fault("submission", 30, async ({ submit, client, accepted }) => {
    for (const id of await submit(client)) accepted.add(id);
  }),
  fault("mining", 10, ({ control }, random) =>
    control.post("/api/dev/mine", { blocks: random.integer(1, 4) }),
  ),
  fault("reorganisation", 12, ({ control }, random) => reorganise(control, random)),
  fault("restoring", 2, async ({ control }, random) => {
    const { id } = (await control.post("/api/dev/snapshot")) as { id: string };
    await control.post("/api/dev/mine", { blocks: random.integer(1, 3) });
    await control.post("/api/dev/restore", { id }, [200, 409]);
  }),
  fault("travel", 3, ({ control }, random) => {
    const seconds = random.chance(0.1) ? random.integer(1, 2 * SECONDS_PER_DAY) : random.integer(1, 60);
    return control.post("/api/dev/travel", { seconds });
  }),
  fault("clock jump", 6, async (world, random) => {
    const isBack = random.chance(0.3) && world.clockAheadMs > MAX_JUMP_BACK_MS;
    const byMs = isBack
      ? -random.integer(1, MAX_JUMP_BACK_MS)
      : random.integer(1, random.chance(0.2) ? MAX_JUMP_MS : 20_000);
    moveClock(world, byMs);
  }),
  fault("behaviour", 25, async ({ subjects }, random) => {
    const { receiver } = random.pick(subjects);
    await receiver.become(random.chance(0.4) ? "well" : random.pick(BEHAVIOURS));
  }),
  fault("register change", 4, ({ restless, kinds }, random) =>
    random.pick(restless).change(random.pick(kinds)),
  ),
  fault("leaving", 2, ({ restless }, random) => random.pick(restless).leave()),
  fault("coming back", 2, async ({ restless }) => {
    for (const subject of restless) await subject.comeBack();
  }),
  fault("replay", 5, async ({ historians, firstHeight, control }, random) => {
    const historian = random.pick(historians);
    if (random.chance(0.2)) {
      await control.send("DELETE", `/api/webhooks/${historian.id}/replay`);
      return;
    }
    const fromHeight = firstHeight + random.integer(0, MAX_DEPTH);
    await historian.replay(fromHeight, fromHeight + random.integer(0, 100));
  }),
  fault("rotation", 1, async ({ steady, control }, random) => {
    const { id, receiver } = random.pick(steady);
    const rotated = await control.post(`/api/webhooks/${id}/rotate`, { overlapSeconds: 60 });
    receiver.tokens.add((rotated as { token: string }).token);
  }),
  fault("ping", 2, ({ steady, control }, random) =>
    control.post(`/api/webhooks/${random.pick(steady).id}/ping`),
  ),
  fault("resending", 2, ({ steady, control }, random) =>
    control.post(`/api/webhooks/${random.pick(steady).id}/deliveries/retry`, { since: 0 }),
  ),
  ...(canFill ? [fullDisk] : []),
  fault("pause", 20, (_world, random) => sleep(random.integer(1, 200))),
];

/** Accepted transactions leave the chain and the pool for reasons that these do not have. */
const KEEPS_TRANSACTIONS: ReadonlySet<string> = new Set([
  ...["submission", "mining", "behaviour", "pause", "ping"],
]);

/** Returns true if every accepted transaction is still on the chain or pending. */
export const mustKeepAccepted = (happened: ReadonlyMap<string, number>): boolean =>
  [...happened.keys()].every((name) => KEEPS_TRANSACTIONS.has(name));
