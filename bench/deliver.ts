/**
 * `npm run bench -- deliver [--webhooks 32] [--events 500] [--rounds 3] [--delay 0] [--only NAME]`
 * `npm run bench -- deliver --minutes M [--rate 300] [--snapshot] [...]`
 *
 * Deliveries from PostgreSQL per second, from the commit of the events to the recorded acknowledgement: one and two delivery
 * workers, and one and two processes over a plain table of jobs (`deliveries/jobs.ts`) and over an ordered queue of pg-boss
 * (`deliveries/boss.ts`). All get the same events in turns, each
 * time in a new database, so that other load of the machine affects all of them. PostgreSQL waits for the disk; the receiver is a
 * separate process, which responds after `--delay` ms. CPU time is that of the processes that deliver, and that of PostgreSQL.
 *
 * With `--minutes`, one process of each kind delivers for so long instead, in turns, and a line is printed for each minute: without
 * pauses, or a block of events at a time, so that on average `--rate` deliveries per second are offered. With `--snapshot`, a
 * transaction holds the state of the beginning.
 */
import { present } from "../packages/node/src/platform/present.ts";
import { startPostgres } from "../packages/node/test-support/postgres/server.ts";
import { readArguments } from "../tools/arguments.ts";
import { pgBoss } from "./deliveries/boss.ts";
import type { Contender } from "./deliveries/contender.ts";
import { copyDatabase, createTemplate } from "./deliveries/database.ts";
import { jobTable } from "./deliveries/jobs.ts";
import { EVENTS_PER_BLOCK, type Figures, openRun, type Run } from "./deliveries/run.ts";
import { deliveryWorkers } from "./deliveries/workers.ts";
import { startReceiver } from "./webhooks/receiver.ts";

const { values } = readArguments("bench deliver", {
  options: {
    webhooks: { type: "string", default: "32" },
    events: { type: "string", default: "500" },
    rounds: { type: "string", default: "3" },
    /** Milliseconds until the receiver responds. */
    delay: { type: "string", default: "0" },
    only: { type: "string", default: "" },
    minutes: { type: "string" },
    rate: { type: "string" },
    snapshot: { type: "boolean", default: false },
  },
});
const blocks = Math.ceil(Number(values.events) / EVENTS_PER_BLOCK);
const contenders = [deliveryWorkers, jobTable, pgBoss].filter(({ name }) => name.includes(values.only));
const MINUTE_MS = 60_000;
/** Blocks of a measurement, and its duration. */
const load: [blocks: number, periodMs?: number] =
  values.rate === undefined
    ? [blocks]
    : [1, (1_000 * EVENTS_PER_BLOCK * Number(values.webhooks)) / Number(values.rate)];

const server = await startPostgres({ fsync: "on", shared_buffers: "256MB", max_wal_size: "4GB" });
const receiver = await startReceiver(Number(values.delay));
const webhooks = Number(values.webhooks);
try {
  const templateUrl = await createTemplate(server);
  console.log(`${values.webhooks} webhooks, a receiver that responds after ${values.delay} ms`);
  await (values.minutes === undefined
    ? compare(templateUrl)
    : sustain(templateUrl, Number(values.minutes) * MINUTE_MS));
} finally {
  await receiver.close();
  await server.stop();
}

/** Opens a run in a new database; connections, code and caches are warm. */
async function open(contender: Contender, count: number, databaseUrl: string): Promise<Run> {
  const run = await openRun(contender, { server, databaseUrl, receiver, webhooks, count });
  await run.deliver(1).catch(async (error) => {
    await run.close();
    throw error;
  });
  return run;
}

async function compare(templateUrl: string): Promise<void> {
  const kinds = contenders.flatMap((contender) =>
    [1, 2].map((count) => ({ contender, count, figures: [] as Figures[] })),
  );
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [index, { contender, count, figures }] of kinds.entries()) {
      const databaseUrl = await copyDatabase(templateUrl, `run_${round}_${index}`);
      const run = await open(contender, count, databaseUrl);
      figures.push(await run.deliver(blocks).finally(run.close));
    }
  }
  console.log("deliverer | processes | deliveries/s | us of the processes | us of PostgreSQL");
  for (const { contender, count, figures } of kinds) {
    console.log([contender.name, count, ...rowOf(figures)].join(" | "));
  }
}

async function sustain(templateUrl: string, durationMs: number): Promise<void> {
  const runs: { contender: Contender; run: Run }[] = [];
  try {
    await sustainAll(templateUrl, durationMs, runs);
  } finally {
    for (const { run } of runs) await run.close();
  }
}

/** @param runs every run is added */
async function sustainAll(
  templateUrl: string,
  durationMs: number,
  runs: { contender: Contender; run: Run }[],
): Promise<void> {
  for (const [index, contender] of contenders.entries()) {
    const run = await open(contender, 1, await copyDatabase(templateUrl, `run_${index}`));
    if (values.snapshot) await run.holdSnapshot();
    runs.push({ contender, run });
  }
  console.log("deliverer | minute | deliveries/s | us of the processes | us of PostgreSQL");
  const startMs = performance.now();
  for (let minute = 1; performance.now() < startMs + durationMs; minute++) {
    for (const { contender, run } of runs) {
      const figures: Figures[] = [];
      // Each has its part of the minute.
      const endMs = performance.now() + MINUTE_MS / runs.length;
      while (performance.now() < endMs) figures.push(await run.deliver(...load));
      console.log([contender.name, minute, ...rowOf(figures)].join(" | "));
    }
  }
}

function rowOf(figures: readonly Figures[]): number[] {
  const median = (numbers: readonly number[]) =>
    present(numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]);
  return (["perSecond", "workerUs", "databaseUs"] as const).map((member) =>
    Math.round(median(figures.map((one) => one[member]))),
  );
}
