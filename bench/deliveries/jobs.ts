/**
 * The comparison: a plain table of jobs. A row is inserted for each event and webhook. Each process takes pending rows with
 * `FOR UPDATE SKIP LOCKED`, posts them at the same time, and records the outcomes before it commits. There is no order, no retry,
 * no signature, and no limit for a target: it shows what the database and the calls cost.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Agent } from "undici";
import { present } from "../../packages/node/src/platform/present.ts";
import { Postgres } from "../../packages/node/src/postgres/connection.ts";
import type { Contender } from "./contender.ts";
import { forkWorkers, type Job, post, runWorker } from "./plain-worker.ts";

const SCHEMA = `
  CREATE TABLE targets (id bigint PRIMARY KEY, url text NOT NULL);
  CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target bigint NOT NULL,
    message text NOT NULL,
    body text NOT NULL,
    state text NOT NULL DEFAULT 'pending',
    attempts integer NOT NULL DEFAULT 0,
    status integer,
    created_ms bigint NOT NULL,
    finished_ms bigint
  );
  CREATE INDEX jobs_pending ON jobs (id) WHERE state = 'pending'`;

export const jobTable: Contender = {
  name: "plain job table",
  async prepare(postgres, { webhooks, target }) {
    await postgres.query(SCHEMA);
    await postgres.query("INSERT INTO targets SELECT id, $2 FROM generate_series(1, $1::integer) AS id", [
      webhooks,
      target,
    ]);
  },
  start: (databaseUrl, count) => forkWorkers(fileURLToPath(import.meta.url), databaseUrl, count),
  async commit(postgres, events) {
    await postgres.query(
      `INSERT INTO jobs (target, message, body, created_ms)
       SELECT targets.id, message || ':' || targets.id, body, $3
       FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS event (message, body, number), targets
       ORDER BY number, targets.id`,
      [
        events.map(({ id }) => id),
        events.map(({ name, data }) => JSON.stringify({ event: name, timestamp: Date.now(), data })),
        Date.now(),
      ],
    );
  },
  async isDone(postgres, deliveries) {
    const [row] = await postgres.query<{ last: string | null }>(
      "SELECT max(id) AS last FROM jobs WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE state = 'pending')",
    );
    return Number(row?.last) === deliveries;
  },
};

/** Transactions at a time, and jobs of each: together the concurrent calls of a worker. */
const TRANSACTIONS = 4;
const JOBS = 64;
/** Pause when no job is pending. */
const IDLE_MS = 5;

async function work(databaseUrl: string, signal: AbortSignal): Promise<void> {
  const postgres = new Postgres({
    url: databaseUrl,
    applicationName: "plain jobs",
    maxConnections: TRANSACTIONS,
    statementTimeoutMs: 30_000,
    isCommitAsynchronous: false,
    onConnectionLost: () => {},
  });
  const agent = new Agent({ pipelining: 1 });
  const loops = Array.from({ length: TRANSACTIONS }, async () => {
    while (!signal.aborted) if ((await takeJobs(postgres, agent)) === 0) await sleep(IDLE_MS);
  });
  await Promise.all(loops);
  await agent.close();
  await postgres.close();
}

/** Delivers some jobs; returns their number. */
const takeJobs = (postgres: Postgres, agent: Agent): Promise<number> =>
  postgres.transaction("READ WRITE", async ({ query, change }) => {
    const jobs = await query<Job & { id: string }>(
      `SELECT jobs.id, message, body, url FROM jobs JOIN targets ON targets.id = target
       WHERE state = 'pending' ORDER BY jobs.id LIMIT ${JOBS} FOR UPDATE OF jobs SKIP LOCKED`,
    );
    if (jobs.length === 0) return 0;
    const statuses = await Promise.all(jobs.map((job) => post(agent, job)));
    await change(
      `UPDATE jobs SET state = CASE WHEN outcome.status < 300 THEN 'delivered' ELSE 'failed' END,
         attempts = attempts + 1, status = outcome.status, finished_ms = $3
       FROM unnest($1::bigint[], $2::integer[]) AS outcome (id, status) WHERE jobs.id = outcome.id`,
      [jobs.map(({ id }) => id), statuses, Date.now()],
    );
    return jobs.length;
  });

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const databaseUrl = present(process.argv[2], "the URL of the database");
  await runWorker((signal) => work(databaseUrl, signal));
}
