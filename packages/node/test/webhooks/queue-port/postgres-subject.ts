/** Subject of the suites of the webhook storage on PostgreSQL: one worker that owns all webhooks. */
import { onTestFinished } from "vitest";
import type { Event } from "../../../src/events/catalogue.ts";
import { Postgres } from "../../../src/postgres/connection.ts";
import { migrate } from "../../../src/postgres/migrations.ts";
import { openPostgresStorage } from "../../../src/webhooks/postgres/storage.ts";
import { PLAIN_SECRETS } from "../../../src/webhooks/secrets.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";
import { ownByWorkers } from "../../../test-support/webhooks/postgres-rows.ts";
import { addWebhook, type Subject } from "./subject.ts";

const WORKER = { worker: "worker", session: "same", leaseMs: 600_000 };
/** 2 s on a machine without other work: a call waits this long in one test, and never in others. */
const STATEMENT_TIMEOUT_MS = Math.round(WAIT_MS / 30);

/** Opens a subject over an empty database. */
export async function openPostgresSubject(
  url: string,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
): Promise<Subject> {
  const connection = connectTo(url, statementTimeoutMs);
  const { postgres } = connection;
  await migrate(postgres);
  await ownByWorkers(postgres);
  return openOver(connection, url, statementTimeoutMs);
}

/** @returns `close` can be called again */
function connectTo(url: string, statementTimeoutMs: number) {
  const postgres = new Postgres({
    url,
    applicationName: WORKER.worker,
    maxConnections: 8,
    statementTimeoutMs,
    isCommitAsynchronous: false,
    hasFewStatements: true,
    onConnectionLost: () => {},
  });
  let isOpen = true;
  async function close(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await postgres.close();
  }
  onTestFinished(close);
  return { postgres, close };
}

async function openOver(
  { postgres, close }: ReturnType<typeof connectTo>,
  url: string,
  statementTimeoutMs: number,
): Promise<Subject> {
  const storage = openPostgresStorage(WORKER, { postgres, network: "network", cipher: PLAIN_SECRETS });
  await storage.queue.ownership.renew();
  return {
    ...storage,
    addWebhook: (fields) => addWebhook(storage.register, fields),
    append: (events) => append(postgres, events),
    holdUp: () => holdUp(connectTo(url, statementTimeoutMs).postgres),
    async crash() {
      await close();
      return openOver(connectTo(url, statementTimeoutMs), url, statementTimeoutMs);
    },
  };
}

/** Writes events as a mirror copies them. */
async function append(postgres: Postgres, events: readonly Event[]): Promise<void> {
  await postgres.transaction("READ WRITE", async ({ query, change }) => {
    for (const { id, name, height = null, blockId = null, timeMs = null, reverts = null, data } of events) {
      const text = data === undefined ? null : JSON.stringify(data);
      await query("UPDATE event_log SET last_sequence = last_sequence + 1");
      await change(
        `INSERT INTO events (sequence, id, name, height, block_id, created_ms, time_ms, reverts, data)
         SELECT last_sequence, $1, $2, $3, $4, $5, $6, $7, $8 FROM event_log`,
        [id, name, height, blockId, Date.now(), timeMs, reverts, text],
      );
    }
  });
}

/** Locks the tables against writes until the returned function is called. */
async function holdUp(postgres: Postgres): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: onLocked, reject } = Promise.withResolvers<void>();
  const held = postgres.transaction("READ WRITE", async ({ change }) => {
    await change("LOCK TABLE shards, webhooks, queues, deliveries IN EXCLUSIVE MODE");
    onLocked();
    await released;
  });
  held.catch(reject);
  await locked;
  return () => {
    release();
    return held;
  };
}
