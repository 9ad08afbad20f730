/** Deliverers on one database, and the cost of what they deliver. */
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type PostgresServer } from "../../packages/node/test-support/postgres/server.ts";
import { processorMsOf } from "../serve/processor-time.ts";
import { transferApplied } from "../webhooks/service.ts";
import type { Contender, Load } from "./contender.ts";

export type Figures = {
  /** Deliveries per second from the first commit to the last recorded acknowledgement. */
  readonly perSecond: number;
  /** CPU time of the processes that deliver, and of PostgreSQL, for each delivery. */
  readonly workerUs: number;
  readonly databaseUs: number;
};

export type Run = {
  /** Commits blocks of events, and waits until all of their deliveries are recorded. */
  deliver(blocks: number): Promise<Figures>;
  /** Opens a transaction that sees the present state until the run ends, so that PostgreSQL removes no later row version. */
  holdSnapshot(): Promise<void>;
  close(): Promise<void>;
};

export type RunOptions = {
  readonly server: PostgresServer;
  readonly databaseUrl: string;
  readonly load: Load;
  /** Number of processes. */
  readonly count: number;
};

export const EVENTS_PER_BLOCK = 100;
const POLL_MS = 20;
/** A run with fewer deliveries per second than this fails. */
const LOWEST_RATE = 50;

export async function openRun(
  contender: Contender,
  { server, databaseUrl, load, count }: RunOptions,
): Promise<Run> {
  const postgres = connect(databaseUrl);
  await contender.prepare(postgres, load);
  const workers = await contender.start(databaseUrl, count);
  const ending = new AbortController();
  let held: Promise<unknown> | undefined;
  let height = 0;

  const times = () =>
    [workers.pids.reduce((sum, pid) => sum + processorMsOf(pid), 0), processorMsOf(server.pid())] as const;

  async function waitUntilRecorded(deliveries: number, added: number): Promise<void> {
    const endMs = performance.now() + 30_000 + (1_000 * added) / LOWEST_RATE;
    while (!(await contender.isDone(postgres, deliveries))) {
      const failure = performance.now() > endMs ? "not done in time" : workers.failure();
      if (failure !== undefined) throw new Error(`${contender.name}: ${failure}`);
      await sleep(POLL_MS);
    }
  }

  return {
    async deliver(blocks) {
      const deliveries = blocks * EVENTS_PER_BLOCK * load.webhooks;
      const before = times();
      const startMs = performance.now();
      for (let count = 0; count < blocks; count++) await contender.commit(postgres, eventsOf(++height));
      await waitUntilRecorded(height * EVENTS_PER_BLOCK * load.webhooks, deliveries);
      const seconds = (performance.now() - startMs) / 1_000;
      const after = times();
      return {
        perSecond: deliveries / seconds,
        workerUs: (1_000 * (after[0] - before[0])) / deliveries,
        databaseUs: (1_000 * (after[1] - before[1])) / deliveries,
      };
    },
    async holdSnapshot() {
      const { promise: isHeld, resolve } = Promise.withResolvers<void>();
      held = postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", async ({ query }) => {
        await query("SELECT 1 FROM head");
        resolve();
        await new Promise((ended) => ending.signal.addEventListener("abort", ended));
      });
      await isHeld;
    },
    async close() {
      ending.abort();
      await held;
      await workers.stop();
      await postgres.close();
    },
  };
}

const eventsOf = (height: number) =>
  Array.from({ length: EVENTS_PER_BLOCK }, (_, sequence) => transferApplied(height, sequence));
