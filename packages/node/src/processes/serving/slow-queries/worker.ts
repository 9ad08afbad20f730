/** The thread for slow queries: the same API, which receives its requests as messages. */
import { parentPort, workerData } from "node:worker_threads";
import { createNetwork } from "@uniknode/protocol";
import type { Gateway } from "../../../gateway/gateway.ts";
import { CODE_HEADER } from "../../../http/core/error.ts";
import { HttpServer } from "../../../http/server/server.ts";
import { openLog } from "../../../platform/logging/logger.ts";
import { present } from "../../../platform/present.ts";
import { SqliteReadModel } from "../../../read/sqlite/read-model.ts";
import { openDatabase } from "../../../store/engine/database.ts";
import type { FromSlowQueryThread, SlowQueryData, ToSlowQueryThread } from "./thread.ts";

const port = present(parentPort, "the port of the parent thread");
const { databasePath, files, identity, readTimeoutMs, logFormat = "auto" } = workerData as SlowQueryData;

const network = createNetwork(files);
const database = openDatabase(databasePath, { readonly: true });
const { app } = new HttpServer(
  { host: "127.0.0.1", port: 0 },
  {
    readModel: new SqliteReadModel({ readTimeoutMs }, { database, network }),
    network,
    identity,
    // Queries that call the node are never slow in the database.
    gateway: {} as Gateway,
    plugins: [],
    nowMs: Date.now,
    logger: openLog("error", logFormat).logger,
  },
);

// The affected request is unknown, so all requests fail and their callers are notified.
port.on("messageerror", (error) => {
  throw error;
});
port.on("message", async ({ number, method, url, body }: ToSlowQueryThread) => {
  const response = await app.inject({
    method: method as "GET",
    url,
    ...(body !== undefined && body !== null && { payload: body }),
  });
  const { [CODE_HEADER]: code } = response.headers;
  // It is a copy, because Node.js allocates small buffers in a common one. The response can have 100 MB: the other thread gets its memory.
  const bytes = new Uint8Array(response.rawPayload);
  const result: FromSlowQueryThread = {
    number,
    status: response.statusCode,
    body: bytes,
    ...(code !== undefined && { code: `${code}` }),
  };
  port.postMessage(result, [bytes.buffer]);
});
