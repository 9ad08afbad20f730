/** Thread that copies the write-ahead log and exits; writers and readers of other connections continue. */
import { workerData } from "node:worker_threads";
import type { CheckpointData } from "./checkpoints.ts";
import { type Database, openDatabase } from "./database.ts";

const { databasePath, restPages } = workerData as CheckpointData;

/**
 * A checkpoint copies the pages that are in the log when it begins. Commits during it add others: further checkpoints copy these, as
 * long as each of them leaves at most half as many as the previous one.
 */
function copyLog(database: Database): void {
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    database.checkpoint();
    const { total, copied } = database.logPages();
    const left = total - copied;
    if (left <= restPages || left > before / 2) return;
    before = left;
  }
}

const database = openDatabase(databasePath, { makesCheckpoints: false });
try {
  copyLog(database);
} finally {
  database.close();
}
