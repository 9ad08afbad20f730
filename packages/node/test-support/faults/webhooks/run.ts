/** Injects random faults into the real process, kills it again and again, and compares what every receiver has with the chain. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../../src/platform/present.ts";
import { missingProgram } from "../../process/available.ts";
import { clockOptions, setClock } from "../../process/clock.ts";
import { closeDevChain, MAX_DEPTH, reorganise, startDevChain } from "../actors/dev-chain.ts";
import { BEHAVIOURS } from "../actors/receiver.ts";
import type { Subject } from "../actors/subject.ts";
import { inspectRows } from "../checks/rows.ts";
import { judge } from "../checks/verdict.ts";
import {
  type Fault,
  type Figures,
  fault,
  increase,
  type Run,
  type Scenario,
  shown,
  weighted,
} from "../scenario.ts";
import { createWorld, moveClock, settle, type World } from "./world.ts";

const MIN_LIFE_MS = 500;
const MAX_LIFE_MS = 4_000;
const MAX_SHOWN = 5;
/** A run on a slow machine ends later instead of showing less: kills, and accepted transactions if there are submissions. */
const MIN_KILLS = 3;
const MIN_ACCEPTED = 10;
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

/** Each may fail: the process may die at any moment. */
const FAULTS: readonly Fault<World>[] = [
  fault("submission", 30, async ({ submit, accepted }) => {
    for (const id of await submit()) accepted.add(id);
  }),
  fault("mining", 10, ({ client }, random) => client.dev.mine({ blocks: random.integer(1, 4) })),
  fault("reorganisation", 12, ({ client }, random) => reorganise(client, random)),
  fault("restoring", 2, async ({ client: { dev } }, random) => {
    const { id } = (await dev.snapshot()).data;
    await dev.mine({ blocks: random.integer(1, 3) });
    await dev.restore(id);
  }),
  fault("travel", 3, ({ client }, random) => {
    const seconds = random.chance(0.1) ? random.integer(1, 2 * SECONDS_PER_DAY) : random.integer(1, 60);
    return client.dev.travel({ seconds });
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
  fault("replay", 5, async ({ historians, firstHeight, client }, random) => {
    const historian = random.pick(historians);
    if (random.chance(0.2)) {
      await client.webhooks.cancelReplay(historian.id);
      return;
    }
    const fromHeight = firstHeight + random.integer(0, MAX_DEPTH);
    await historian.replay(fromHeight, fromHeight + random.integer(0, 100));
  }),
  fault("rotation", 1, async ({ steady, client }, random) => {
    const { id, receiver } = random.pick(steady);
    receiver.tokens.add((await client.webhooks.rotate(id, { overlapSeconds: 60 })).data.token);
  }),
  fault("ping", 2, ({ steady, client }, random) => client.webhooks.ping(random.pick(steady).id)),
  fault("resending", 2, ({ steady, client }, random) => client.webhooks.retryFailed(random.pick(steady).id)),
  ...(canFill ? [fullDisk] : []),
  fault("pause", 20, (_world, random) => sleep(random.integer(1, 200))),
];

/** Accepted transactions stay on the chain or in the pool, unless other faults happened. */
const KEEPS_ACCEPTED = ["submission", "mining", "behaviour", "pause", "ping"];

export const scenario: Scenario = {
  description:
    "a dev chain is killed every few seconds; receivers must have the facts of the chain, and the database every accepted transaction",
  minutes: 1,
  faultNames: FAULTS.map(({ name }) => name),
  run: runWebhooks,
};

/** @throws {Error} if the node loses something that it had stored, or work is left that does not end */
async function runWebhooks(run: Run): Promise<Figures> {
  const { folder, faults, seconds, log } = run;
  setClock(folder, 0);
  const subjects: Subject[] = [];
  const chain = await startDevChain(run, ["--log-level", "error"], clockOptions(folder));
  try {
    const world = await createWorld(run, chain, subjects);
    log(`${subjects.length} webhooks, faults for ${seconds} s`);
    const kills = await injectAll(world, run);
    await settle(world);
    for (const subject of subjects) faults.push(...(await judgeSubject(world, subject)));
    await chain.node.end("SIGTERM");
    return { kills, ...figuresOf(world) };
  } finally {
    await closeDevChain(chain);
    for (const { receiver } of subjects) await receiver.close();
  }
}

async function injectAll(world: World, { seconds, only }: Run): Promise<number> {
  const { node, random, accepted, database, happened } = world;
  const faults = weighted(FAULTS, only);
  const minAccepted = faults.some(({ name }) => name === "submission") ? MIN_ACCEPTED : 0;
  let kills = 0;
  const endMs = performance.now() + seconds * 1_000;
  while (performance.now() < endMs || kills < MIN_KILLS || accepted.size < minAccepted) {
    await node.start();
    const deathMs = performance.now() + MIN_LIFE_MS + random.below(MAX_LIFE_MS - MIN_LIFE_MS);
    const killed = new Promise<void>((resolve, reject) => {
      setTimeout(() => node.end("SIGKILL").then(resolve, reject), deathMs - performance.now());
    });
    // The process may end earlier by itself.
    killed.catch(() => {});
    while (performance.now() < deathMs) {
      const { name, inject } = random.pick(faults);
      increase(happened, name);
      // The process may be killed meanwhile, or its disk be full: the resulting state is checked at the end.
      await inject(world, random).catch(() => {});
    }
    await killed;
    kills++;
    const isKept = [...happened.keys()].every((name) => KEEPS_ACCEPTED.includes(name));
    inspectRows(database, isKept ? accepted : new Set());
  }
  await node.start();
  return kills;
}

async function judgeSubject({ client, chronicle }: World, subject: Subject): Promise<string[]> {
  const { id, receiver, periods, replays, last } = subject;
  const reason = await subject.suspended();
  const cancelled = new Map<string, number>();
  for await (const { messageId, sequence = 0 } of client.webhooks.deliveries(id, { state: "cancelled" }))
    cancelled.set(messageId, sequence);
  const chain = { changes: chronicle.changes(), wallets: chronicle.wallets() };
  const found = judge({ arrivals: receiver.arrivals, periods, replays, cancelled, ...chain });
  return [
    ...(reason === undefined ? [] : [`webhook ${id} is suspended: ${reason}`]),
    ...shown(found, MAX_SHOWN).map((fault) => `webhook ${id} (${last.kind.name}): ${fault}`),
  ];
}

function figuresOf({ subjects, accepted, happened, chronicle }: World): Figures {
  const changes = chronicle.changes();
  const arrivals = subjects.flatMap(({ receiver }) => receiver.arrivals);
  return {
    blocks: changes.filter(({ kind }) => kind === "applied").length,
    undone: changes.filter(({ kind }) => kind === "reverted").length,
    accepted: accepted.size,
    arrivals: arrivals.length,
    deliveries: new Set(arrivals.map(({ message }) => message.id)).size,
    ...Object.fromEntries(happened),
  };
}
