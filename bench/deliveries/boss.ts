/**
 * The comparison with pg-boss, a queue of jobs for Node.js and PostgreSQL, with an ordered queue: of the jobs with one key, here the
 * webhook, one is active at a time. Each process takes the next job of each free webhook, posts them at the same time, and
 * completes them. Maintenance and schedules are off. Jobs are neither signed nor matched, and targets have no limit.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PgBoss } from "pg-boss";
import { Agent } from "undici";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Postgres } from "../../packages/node/src/postgres/connection.ts";
import type { Contender, Load } from "./contender.ts";
import { forkWorkers, type Job, post, runWorker } from "./plain-worker.ts";

const QUEUE = "deliveries";
/** Loops of a process, and jobs that each takes at once. */
const LOOPS = 4;
const JOBS = 64;
/** Pause when no job is free. */
const IDLE_MS = 5;

/** The clients that insert jobs, by the connections of their database. */
const producers = new WeakMap<Postgres, { readonly boss: PgBoss; readonly load: Load }>();

const open = (connectionString: string): Promise<PgBoss> => {
  const boss = new PgBoss({ connectionString, max: LOOPS, supervise: false, schedule: false });
  boss.on("error", (error) => console.error(error));
  return boss.start();
};

export const pgBoss: Contender = {
  name: "pg-boss",
  async prepare(postgres, load) {
    const boss = await open(load.databaseUrl);
    await boss.createQueue(QUEUE, { policy: "key_strict_fifo" });
    producers.set(postgres, { boss, load });
  },
  start: (databaseUrl, count) => forkWorkers(fileURLToPath(import.meta.url), databaseUrl, count),
  async commit(postgres, events) {
    const { boss, load } = present(producers.get(postgres), "the client of this database");
    const webhooks = Array.from({ length: load.webhooks }, (_, index) => `${index + 1}`);
    const jobs = events.flatMap(({ id, name, data }) => {
      const body = JSON.stringify({ event: name, timestamp: Date.now(), data });
      return webhooks.map((webhook) => ({
        singletonKey: webhook,
        data: { message: `${id}:${webhook}`, body, url: load.target },
      }));
    });
    await boss.insert(QUEUE, jobs);
  },
  async isDone(postgres, deliveries) {
    const [row] = await postgres.query<{ done: string }>(
      "SELECT count(*) AS done FROM pgboss.job WHERE name = $1 AND state = 'completed'",
      [QUEUE],
    );
    return Number(row?.done) === deliveries;
  },
  async close(postgres) {
    await producers.get(postgres)?.boss.stop();
  },
};

async function work(boss: PgBoss, signal: AbortSignal): Promise<void> {
  const agent = new Agent({ pipelining: 1 });
  const loops = Array.from({ length: LOOPS }, async () => {
    while (!signal.aborted) if ((await takeJobs(boss, agent)) === 0) await sleep(IDLE_MS);
  });
  await Promise.all(loops);
  await agent.close();
  await boss.stop();
}

/** Delivers some jobs; returns their number. */
async function takeJobs(boss: PgBoss, agent: Agent): Promise<number> {
  const jobs = await boss.fetch<Job>(QUEUE, { batchSize: JOBS });
  if (jobs.length === 0) return 0;
  const statuses = await Promise.all(jobs.map(({ data }) => post(agent, data)));
  if (statuses.some((status) => status >= 300)) throw new Error("the receiver refused a job");
  await boss.complete(
    QUEUE,
    jobs.map(({ id }) => id),
  );
  return jobs.length;
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const boss = await open(present(process.argv[2], "the URL of the database"));
  await runWorker((signal) => work(boss, signal));
}
