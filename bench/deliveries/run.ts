/** Deliverers on one database, and the cost of what they deliver. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Postgres } from "../../packages/node/src/postgres/connection.ts";
import { connect, type PostgresServer } from "../../packages/node/test-support/postgres/server.ts";
import { processorMsOf } from "../serve/processor-time.ts";
import type { Receiver } from "../webhooks/receiver.ts";
import { transferApplied } from "../webhooks/service.ts";
import type { Contender } from "./contender.ts";

export type Figures = {
  /** Deliveries per second from the first commit to the last recorded acknowledgement. */
  readonly perSecond: number;
  /** CPU time of the processes that deliver, and of PostgreSQL, for each delivery. */
  readonly workerUs: number;
  readonly databaseUs: number;
};

export type Run = {
  /**
   * Commits blocks of events, and waits until all of their deliveries are recorded, and until a time has passed since the start,
   * whose CPU time the figures contain.
   */
  deliver(blocks: number, periodMs?: number): Promise<Figures>;
  /** Opens a transaction that sees the present state until the run ends, so that PostgreSQL removes no later row version. */
  holdSnapshot(): Promise<void>;
  close(): Promise<void>;
};

export type RunOptions = {
  readonly server: PostgresServer;
  readonly databaseUrl: string;
  readonly receiver: Receiver;
  readonly webhooks: number;
  /** Number of processes. */
  readonly count: number;
};

export const EVENTS_PER_BLOCK = 100;
const POLL_MS = 50;
/** A run with fewer deliveries per second than this fails. */
const LOWEST_RATE = 50;

export async function openRun(
  contender: Contender,
  { server, databaseUrl, receiver, webhooks, count }: RunOptions,
): Promise<Run> {
  const postgres = connect(databaseUrl);
  await contender.prepare(postgres, { webhooks, target: receiver.url, databaseUrl });
  const workers = await contender.start(databaseUrl, count);
  let release: () => Promise<unknown> = async () => {};
  let height = 0;

  const times = () =>
    [workers.pids.reduce((sum, pid) => sum + processorMsOf(pid), 0), processorMsOf(server.pid())] as const;

  async function waitUntilRecorded(deliveries: number): Promise<void> {
    const endMs = performance.now() + 30_000 + (1_000 * deliveries) / LOWEST_RATE;
    let arrived = 0;
    // The question costs the database so much that it is asked only when all deliveries have arrived.
    const isArrived = async () => {
      arrived += (await receiver.arrivals()).length;
      return arrived >= deliveries;
    };
    const total = height * EVENTS_PER_BLOCK * webhooks;
    while (!(await isArrived()) || !(await contender.isDone(postgres, total))) {
      const failure = performance.now() > endMs ? "not done in time" : workers.failure();
      if (failure !== undefined) throw new Error(`${contender.name}: ${failure}`);
      await sleep(POLL_MS);
    }
  }

  return {
    async deliver(blocks, periodMs = 0) {
      const deliveries = blocks * EVENTS_PER_BLOCK * webhooks;
      const before = times();
      const startMs = performance.now();
      for (let count = 0; count < blocks; count++) await contender.commit(postgres, eventsOf(++height));
      await waitUntilRecorded(deliveries);
      const seconds = (performance.now() - startMs) / 1_000;
      await sleep(Math.max(0, startMs + periodMs - performance.now()));
      const after = times();
      return {
        perSecond: deliveries / seconds,
        workerUs: (1_000 * (after[0] - before[0])) / deliveries,
        databaseUs: (1_000 * (after[1] - before[1])) / deliveries,
      };
    },
    async holdSnapshot() {
      release = await holdSnapshot(postgres);
    },
    async close() {
      await release();
      await workers.stop();
      await contender.close?.(postgres);
      await postgres.close();
    },
  };
}

/** Returns a function that ends the transaction. */
async function holdSnapshot(postgres: Postgres): Promise<() => Promise<unknown>> {
  const [held, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const transaction = postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", async ({ query }) => {
    await query("SELECT 1 FROM head");
    held.resolve();
    await ending.promise;
  });
  await Promise.race([held.promise, transaction]);
  return () => {
    ending.resolve();
    return transaction;
  };
}

const eventsOf = (height: number) =>
  Array.from({ length: EVENTS_PER_BLOCK }, (_, sequence) => transferApplied(height, sequence));
