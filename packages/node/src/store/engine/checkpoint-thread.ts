/** Thread that runs one checkpoint and exits; writers and readers of other connections continue. */
import { workerData } from "node:worker_threads";
import type { CheckpointData } from "./checkpoints.ts";
import { openDatabase } from "./database.ts";

const { databasePath } = workerData as CheckpointData;
const database = openDatabase(databasePath, { makesCheckpoints: false });
try {
  database.checkpoint();
} finally {
  database.close();
}
