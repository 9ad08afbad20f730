/** The API over a dataset or its mirror, and a bare HTTP server with a constant response; controlled by messages. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createNetwork } from "@uniknode/protocol";
import { pino } from "pino";
import type { Gateway } from "../../packages/node/src/gateway/gateway.ts";
import { type HttpDependencies, HttpServer } from "../../packages/node/src/http/server/server.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { DEFAULT_POOL_OPTIONS } from "../../packages/node/src/pool/pool-options.ts";
import { Postgres } from "../../packages/node/src/postgres/connection.ts";
import { SlowQueryThread } from "../../packages/node/src/processes/serving/slow-queries/thread.ts";
import { PostgresReadModel } from "../../packages/node/src/read/postgres/read-model.ts";
import { SqliteReadModel } from "../../packages/node/src/read/sqlite/read-model.ts";
import { ValueIndexBuilder } from "../../packages/node/src/read/sqlite/value-index-builder.ts";
import { openDatabase } from "../../packages/node/src/store/engine/database.ts";
import type { Dataset } from "./dataset.ts";
import type { FromServer, Mirror, ToServer } from "./process.ts";

const { path, files, mirror } = JSON.parse(present(process.argv[2])) as Dataset & { mirror?: Mirror };
const identity = {
  version: "5.7.2",
  genesisBlock: {},
  feePolicy: DEFAULT_POOL_OPTIONS.fees,
  ports: {},
};
const network = createNetwork(files);
const server = new HttpServer(
  {
    host: "127.0.0.1",
    port: 0,
    rateLimit: { limit: 1_000_000_000, windowMs: 60_000 },
  },
  {
    ...(mirror ? readMirror(mirror) : readFile()),
    network,
    identity,
    gateway: {} as Gateway,
    plugins: [],
    nowMs: Date.now,
    logger: pino({ level: "silent" }),
  },
);

/** Opens the file as the serving thread of a node does. */
function readFile(): Pick<HttpDependencies, "readModel" | "slowQueries"> {
  return {
    readModel: new SqliteReadModel(
      { readTimeoutMs: 50, valueIndexes: new ValueIndexBuilder(path, console.error) },
      { database: openDatabase(path, { readonly: true }), network },
    ),
    slowQueries: new SlowQueryThread({ databasePath: path, files, identity, readTimeoutMs: 2_000 }),
  };
}

/** Opens the mirror as an API server does, with 10 connections. */
function readMirror({ url, isShared }: Mirror): Pick<HttpDependencies, "readModel" | "namesBlocks"> {
  const open = (maxConnections: number) =>
    new Postgres({
      ...{ url, maxConnections },
      applicationName: "bench",
      statementTimeoutMs: 10_000,
      isCommitAsynchronous: false,
      onConnectionLost: console.error,
    });
  const connections = isShared ? { postgres: open(5), shared: open(5) } : { postgres: open(10) };
  return { readModel: new PostgresReadModel({}, { ...connections, network }), namesBlocks: true };
}

let text = "";
const bare = createServer((_request, response) => {
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
});

// Also if the benchmark fails.
process.once("disconnect", () => process.exit());
const send = (message: FromServer) => process.send?.(message);
const { port } = await server.listen();
bare.listen(0, "127.0.0.1", () => send({ port, barePort: (bare.address() as AddressInfo).port }));
process.on("message", ({ bareBytes }: ToServer) => {
  if (bareBytes !== undefined) text = "x".repeat(bareBytes);
  const { user, system } = process.cpuUsage();
  const thread = process.threadCpuUsage();
  send({ processorMs: (user + system) / 1_000, threadMs: (thread.user + thread.system) / 1_000 });
});
