/** Costs of a delivery and of a webhook, for a worker, PostgreSQL, and SQLite. */
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Postgres } from "../../packages/node/src/postgres/connection.ts";
import { READER } from "../../packages/node/src/webhooks/intake.ts";
import { connect, startPostgres } from "../../packages/node/test-support/postgres/server.ts";
import { copyDatabase, createTemplate } from "../deliveries/database.ts";
import { EVENTS_PER_BLOCK, openRun, type RunOptions } from "../deliveries/run.ts";
import { deliveryWorkers } from "../deliveries/workers.ts";
import { memoryMbOf, socketsOf } from "../serve/process-memory.ts";
import { type Receiver, startReceiver } from "../webhooks/receiver.ts";
import { openService, transferApplied } from "../webhooks/service.ts";

const WEBHOOKS = 32;
/** The first blocks warm the code. */
const [WARM, MEASURED] = [2, 8];
/** Webhooks without deliveries, of two workers: their difference in memory is that of their webhooks. */
const [FEW, MANY] = [100, 5_100];
const SETTLE_MS = 3_000;

type Measured = Readonly<Record<string, number>>;

export async function measureDeliveries(): Promise<Measured> {
  const server = await startPostgres({ fsync: "on", shared_buffers: "256MB", max_wal_size: "4GB" });
  const receiver = await startReceiver();
  try {
    const template = await createTemplate(server);
    const open = (databaseUrl: string) => ({ server, databaseUrl, receiver, webhooks: WEBHOOKS, count: 1 });
    return {
      ...(await measureWorker(open(await copyDatabase(template, "deliveries")))),
      ...(await measureMemory(await copyDatabase(template, "few"), await copyDatabase(template, "many"))),
      ...(await measureSqlite(receiver)),
    };
  } finally {
    await receiver.close();
    await server.stop();
  }
}

async function measureWorker(options: RunOptions): Promise<Measured> {
  const run = await openRun(deliveryWorkers, options);
  const postgres = connect(options.databaseUrl);
  const wal = async () => {
    const [row] = await postgres.query<{ bytes: string }>(
      "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes",
    );
    return Number(row?.bytes);
  };
  try {
    await run.deliver(WARM);
    const before = await wal();
    const { workerUs, databaseUs } = await run.deliver(MEASURED);
    const deliveries = MEASURED * EVENTS_PER_BLOCK * WEBHOOKS;
    return {
      workerDeliveryUs: workerUs,
      primaryDeliveryUs: databaseUs,
      walDeliveryBytes: ((await wal()) - before) / deliveries,
      ...(await sizesOf(postgres)),
      callBytes: callBytes(),
    };
  } finally {
    await run.close();
    await postgres.close();
  }
}

/** Tables and their indexes after a vacuum, divided by the deliveries and the events. */
async function sizesOf(postgres: Postgres): Promise<Measured> {
  await postgres.query("VACUUM");
  const [row] = await postgres.query<{ delivery: number; event: number }>(
    `SELECT (SELECT sum(pg_total_relation_size(name::regclass))::float8
        FROM unnest(ARRAY['deliveries', 'delivery_lanes', 'attempts', 'contents']) AS name) / (SELECT count(*) FROM deliveries) AS delivery,
       pg_total_relation_size('events')::float8 / (SELECT count(*) FROM events) AS event`,
  );
  return { postgresDeliveryBytes: row?.delivery ?? 0, postgresEventBytes: row?.event ?? 0 };
}

/** Bytes of a request: its body and about 600 bytes of headers. */
function callBytes(): number {
  const { name, data } = transferApplied(1, 0);
  return 600 + JSON.stringify({ timestamp: Date.now(), data, event: name }).length;
}

/** Resident memory of two idle workers, which differ in the number of their webhooks; sockets of a busy one. */
async function measureMemory(few: string, many: string): Promise<Measured> {
  const receiver = await startReceiver(200);
  const start = async (databaseUrl: string, webhooks: number) => {
    const postgres = connect(databaseUrl);
    await deliveryWorkers.prepare(postgres, { webhooks, target: receiver.url, databaseUrl });
    const workers = await deliveryWorkers.start(databaseUrl, 1);
    await waitForShards(postgres);
    // One delivery for each webhook loads the code and the register.
    await deliveryWorkers.commit(postgres, [transferApplied(1, 0)]);
    const pid = present(workers.pids[0]);
    let sockets = 0;
    while (!(await deliveryWorkers.isDone(postgres, webhooks))) {
      sockets = Math.max(sockets, socketsOf(pid));
      await sleep(50);
    }
    await sleep(SETTLE_MS);
    const mb = memoryMbOf(pid);
    await workers.stop();
    await postgres.close();
    return { mb, sockets };
  };
  try {
    const [small, large] = [await start(few, FEW), await start(many, MANY)];
    return {
      workerMb: small.mb,
      workerWebhookBytes: (1e6 * Math.max(0, large.mb - small.mb)) / (MANY - FEW),
      workerSockets: large.sockets,
    };
  } finally {
    await receiver.close();
  }
}

async function waitForShards(postgres: Postgres): Promise<void> {
  for (;;) {
    const [row] = await postgres.query<{ owned: number }>(
      "SELECT count(owner)::integer AS owned FROM shards",
    );
    if (row?.owned === 32) return;
    await sleep(50);
  }
}

/** The log of a node: pages of the tables and indexes, divided by the deliveries. */
async function measureSqlite(receiver: Receiver): Promise<Measured> {
  const service = openService();
  const pages = () =>
    present(service.database.prepare<{ page_count: number }>("PRAGMA page_count").get()).page_count;
  service.register(Array.from({ length: WEBHOOKS }, () => ({ target: receiver.url })));
  const before = pages();
  for (let block = 1; block <= MEASURED; block++)
    service.commit(
      Array.from({ length: EVENTS_PER_BLOCK }, (_, sequence) => transferApplied(block, sequence)),
    );
  service.webhooks.notify();
  const pending = service.database.prepare<{ count: number }>(
    "SELECT count(*) AS count FROM deliveries WHERE state = 'pending'",
  );
  const isMatched = () => service.eventLog.cursor(READER) === service.eventLog.lastSequence();
  while (!isMatched() || present(pending.get()).count > 0) await sleep(50);
  const bytes = 4_096 * (pages() - before);
  await service.close();
  return { sqliteDeliveryBytes: bytes / (MEASURED * EVENTS_PER_BLOCK * WEBHOOKS) };
}
