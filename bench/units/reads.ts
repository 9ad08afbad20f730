/** Costs of single resources and of pages of 100 rows, for an API server and for PostgreSQL. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { createNetwork } from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import { connectFrom } from "../../packages/node/test-support/http/sockets.ts";
import { buildMirror } from "../../packages/node/test-support/mirror/build.ts";
import {
  connect,
  type PostgresServer,
  startPostgres,
} from "../../packages/node/test-support/postgres/server.ts";
import { spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";
import { loadDataset } from "../api/dataset.ts";
import { type Family, familiesOf } from "../api/families.ts";
import { type Load, shoot } from "../api/load.ts";
import { type Servers, startServers } from "../api/process.ts";
import { createTemplate } from "../deliveries/database.ts";
import { memoryMbOf } from "../serve/process-memory.ts";
import { processorMsOf } from "../serve/processor-time.ts";

const TRANSACTIONS = 100_000;
const LOAD: Load = { seconds: 3, connections: 64 };
/** Idle connections, and those of an address. */
const [IDLE, IDLE_PER_ADDRESS] = [1_900, 380];
/** Connections that are opened at the same time. */
const AT_ONCE = 100;
const RESOURCES = ["transactions/{id}", "wallets/{id}", "uniks/{id}", "blocks/{height}"];
const PAGES = ["transactions, any page", "blocks, any page", "wallets, any page", "uniks, any page"];

type Cost = { readonly serverUs: number; readonly databaseUs: number; readonly bytes: number };

export async function measureReads(): Promise<Readonly<Record<string, number>>> {
  const size = { transactions: TRANSACTIONS, wallets: TRANSACTIONS / 10, uniks: TRANSACTIONS / 50 };
  const dataset = await loadDataset(size);
  const postgres = await startPostgres({ shared_buffers: "256MB", max_connections: "100" });
  try {
    const url = await postgres.createDatabase("bench");
    const connection = connect(url);
    (await buildMirror(connection, dataset.path, createNetwork(dataset.files))).close();
    await connection.query("VACUUM ANALYZE");
    await connection.close();
    const servers = await startServers(dataset, { mirror: { url, isShared: true } });
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
      ...(await measureMemory(postgres)),
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

/** Memory of the real server after some requests, and of its idle connections. */
async function measureMemory(postgres: PostgresServer): Promise<Readonly<Record<string, number>>> {
  const url = await createTemplate(postgres);
  const server = spawnUniknode([
    ...["serve", "--database-url", url, "--node", "http://127.0.0.1:9", "--token", "bench"],
    ...["--http-port", "0", "--rate-limit", "0", "--log-level", "error"],
  ]);
  try {
    const [, address] = await server.printed(/(http:\/\/[\d.]+:\d+)/);
    const port = Number(new URL(present(address)).port);
    const requests = [{ method: "GET" as const, path: "/api/v2/blocks" }];
    await shoot(port, requests, { ...LOAD, seconds: 2, connections: 1 });
    const pid = present(server.child.pid);
    const before = memoryMbOf(pid);
    const sockets = await openIdle(port);
    const grown = memoryMbOf(pid) - before;
    for (const socket of sockets) socket.destroy();
    return { serverMb: before, connectionBytes: (1e6 * Math.max(0, grown)) / IDLE };
  } finally {
    server.child.kill("SIGTERM");
    await server.ended;
  }
}

/** Opens connections that have each sent a request. The first ones must not be idle for too long before the last are open. */
async function openIdle(port: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < IDLE) {
    const address = `127.0.2.${1 + Math.floor(sockets.length / IDLE_PER_ADDRESS)}`;
    sockets.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => openOne(address, port)))));
  }
  return sockets;
}

async function openOne(address: string, port: number): Promise<Socket> {
  const socket = await connectFrom(address, port);
  socket.write("GET /api/v2/blockchain HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(socket, "data");
  return socket;
}
