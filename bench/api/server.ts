/** The API over a dataset, and a bare HTTP server with a constant response; controlled by messages. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createNetwork } from "@uniknode/protocol";
import { pino } from "pino";
import type { Gateway } from "../../packages/node/src/gateway/gateway.ts";
import { createHttpServer } from "../../packages/node/src/http/server/server.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { DEFAULT_POOL_OPTIONS } from "../../packages/node/src/pool/pool.ts";
import { createSlowQueryThread } from "../../packages/node/src/processes/serving/slow-queries/thread.ts";
import { createRankingBuilder } from "../../packages/node/src/read/sqlite/rankings/builder.ts";
import { createSqliteReadModel } from "../../packages/node/src/read/sqlite/read-model.ts";
import { openDatabase } from "../../packages/node/src/store/engine/database.ts";
import type { Dataset } from "./dataset.ts";
import type { FromServer, ToServer } from "./process.ts";

const { path, files } = JSON.parse(present(process.argv[2])) as Dataset;
const identity = {
  version: "5.7.2",
  genesisBlock: {},
  feePolicy: DEFAULT_POOL_OPTIONS.fees,
  ports: {},
};
const network = createNetwork(files);
const server = createHttpServer(
  {
    host: "127.0.0.1",
    port: 0,
    rateLimit: { limit: 1_000_000_000, windowMs: 60_000 },
  },
  {
    readModel: createSqliteReadModel(
      // As in the serving thread.
      { readTimeoutMs: 50, rankings: createRankingBuilder(path, console.error) },
      { database: openDatabase(path, { readonly: true }), network },
    ),
    network,
    identity,
    slowQueries: createSlowQueryThread({ databasePath: path, files, identity, readTimeoutMs: 2_000 }),
    gateway: {} as Gateway,
    plugins: [],
    nowMs: Date.now,
    logger: pino({ level: "silent" }),
  },
);

let text = "";
const bare = createServer((_request, response) => {
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
});

const send = (message: FromServer) => present(process.send)(message);
const { port } = await server.listen();
bare.listen(0, "127.0.0.1", () => send({ port, barePort: (bare.address() as AddressInfo).port }));
process.on("message", ({ bareBytes }: ToServer) => {
  if (bareBytes !== undefined) text = "x".repeat(bareBytes);
  const { user, system } = process.cpuUsage();
  send({ processorMs: (user + system) / 1_000 });
});
