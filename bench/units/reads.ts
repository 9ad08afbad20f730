/** Costs of single resources and of pages of 100 rows, for an API server and for PostgreSQL. */
import { createNetwork } from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import { buildMirror } from "../../packages/node/test-support/mirror/build.ts";
import {
  connect,
  type PostgresServer,
  startPostgres,
} from "../../packages/node/test-support/postgres/server.ts";
import { spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";
import type { CostName } from "../../tools/scale/costs.ts";
import { loadDataset } from "../api/dataset.ts";
import { type Family, familiesOf } from "../api/families.ts";
import { type Load, shoot } from "../api/load.ts";
import { type Servers, startServers } from "../api/process.ts";
import { createTemplate } from "../deliveries/database.ts";
import { memoryMbOf } from "../serve/process-memory.ts";
import { processorMsOf } from "../serve/processor-time.ts";

const TRANSACTIONS = 100_000;
const LOAD: Load = { seconds: 3, connections: 64 };
const RESOURCES = ["transactions/{id}", "wallets/{id}", "uniks/{id}", "blocks/{height}"];
const PAGES = ["transactions, any page", "blocks, any page", "wallets, any page", "uniks, any page"];

type Cost = { readonly serverUs: number; readonly databaseUs: number; readonly bytes: number };

export async function measureReads(): Promise<Partial<Record<CostName, number>>> {
  const size = { transactions: TRANSACTIONS, wallets: TRANSACTIONS / 10, uniks: TRANSACTIONS / 50 };
  const dataset = await loadDataset(size);
  const postgres = await startPostgres({ shared_buffers: "256MB", max_connections: "100" });
  try {
    const url = await postgres.createDatabase("bench");
    const connection = connect(url);
    (await buildMirror(connection, dataset.path, createNetwork(dataset.files))).close();
    await connection.query("VACUUM ANALYZE");
    await connection.close();
    const servers = await startServers(dataset, { url, isShared: true });
    const families = familiesOf(dataset);
    const of = (names: readonly string[]) =>
      measureAll(
        families.filter(({ name }) => names.includes(name)),
        servers,
        postgres,
      );
    const [resource, page] = [await of(RESOURCES), await of(PAGES)];
    servers.stop();
    return {
      serverResourceUs: resource.serverUs,
      replicaResourceUs: resource.databaseUs,
      resourceBytes: resource.bytes,
      serverPageUs: page.serverUs,
      replicaPageUs: page.databaseUs,
      pageBytes: page.bytes,
      serverMb: await measureMemory(postgres),
    };
  } finally {
    await postgres.stop();
  }
}

/** Returns the mean of the kinds of requests. */
async function measureAll(
  families: readonly Family[],
  servers: Servers,
  postgres: PostgresServer,
): Promise<Cost> {
  const found: Cost[] = [];
  for (const { requests } of families) {
    // Plans of prepared statements, and compiled code.
    await shoot(servers.port, requests, { ...LOAD, seconds: 1 });
    const before = [await servers.processorMs(), processorMsOf(postgres.pid())] as const;
    const { responses, bytes } = await shoot(servers.port, requests, LOAD);
    const after = [await servers.processorMs(), processorMsOf(postgres.pid())] as const;
    const us = (part: 0 | 1) => (1_000 * (after[part] - before[part])) / responses;
    found.push({ serverUs: us(0), databaseUs: us(1), bytes });
  }
  const mean = (figure: keyof Cost) => found.reduce((sum, one) => sum + one[figure], 0) / found.length;
  return { serverUs: mean("serverUs"), databaseUs: mean("databaseUs"), bytes: mean("bytes") };
}

/** Memory of the real server after some requests. */
async function measureMemory(postgres: PostgresServer): Promise<number> {
  const url = await createTemplate(postgres);
  const server = spawnUniknode([
    ...["serve", "--database-url", url, "--node", "http://127.0.0.1:9", "--token", "bench"],
    ...["--http-port", "0", "--rate-limit", "0", "--log-level", "error"],
  ]);
  try {
    const [, address] = await server.printed(/(http:\/\/[\d.]+:\d+)/);
    const requests = [{ method: "GET" as const, path: "/api/v2/blocks" }];
    await shoot(Number(new URL(present(address)).port), requests, { ...LOAD, seconds: 2, connections: 1 });
    return memoryMbOf(present(server.child.pid));
  } finally {
    server.child.kill("SIGTERM");
    await server.ended;
  }
}
