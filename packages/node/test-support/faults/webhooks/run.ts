/** Injects random faults into the real process, kills it again and again, and compares what every receiver has with the chain. */
import { clockOptions, setClock } from "../../process/clock.ts";
import { closeDevChain, startDevChain } from "../actors/dev-chain.ts";
import type { Subject } from "../actors/subject.ts";
import { inspectRows } from "../checks/rows.ts";
import { judge } from "../checks/verdict.ts";
import { type Figures, increase, type Run, type Scenario, shown, weighted } from "../scenario.ts";
import { FAULTS, mustKeepAccepted } from "./faults.ts";
import { createWorld, settle, type World } from "./world.ts";

const MIN_LIFE_MS = 500;
const MAX_LIFE_MS = 4_000;
/** Printed failures per webhook. */
const MAX_SHOWN = 5;
/** A run on a slow machine ends later instead of showing less: kills, and accepted transactions if there are submissions. */
const MIN_KILLS = 3;
const MIN_ACCEPTED = 10;

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

/** Disturbs the node, and kills it again and again. Returns the number of kills. */
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
    inspectRows(database, mustKeepAccepted(happened) ? accepted : new Set());
  }
  await node.start();
  return kills;
}

async function judgeSubject({ control, chronicle }: World, subject: Subject): Promise<string[]> {
  const { id, receiver, periods, replays, last } = subject;
  const reason = await subject.suspended();
  const entries = await control.list<{ messageId: string; sequence?: number }>(
    `/api/webhooks/${id}/deliveries?state=cancelled&limit=100`,
  );
  const cancelled = new Map(entries.map(({ messageId, sequence = 0 }) => [messageId, sequence]));
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
