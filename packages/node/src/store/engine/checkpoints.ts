/**
 * Copies the write-ahead log into the database file in a separate thread. SQLite would copy it in the commit that
 * reaches the limit: 64 MiB cost 200 ms or more, for which the consensus thread must not wait.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { moduleBeside } from "../../platform/threads/module-url.ts";
import type { Database } from "./database.ts";

export type CheckpointOptions = {
  /** Length of the log, in pages, from which it is copied. A higher value copies fewer pages repeatedly. */
  readonly pages: number;
  /**
   * Length of the log, in pages, from which this thread copies it, because the other thread is too slow or did not
   * start.
   */
  readonly maxPages: number;
  /**
   * Pages that this thread copies when the other thread has copied all others: commits start at the beginning of the log only
   * when all its pages are copied, and with constant commits the other thread never copies the last ones.
   */
  readonly restPages: number;
  readonly intervalMs: number;
};

/** A page has 4 KiB. */
export const DEFAULT_CHECKPOINT_OPTIONS: CheckpointOptions = {
  pages: 16_000,
  maxPages: 64_000,
  restPages: 3_000,
  intervalMs: 500,
};

export type CheckpointDeps = {
  /** A connection that makes no checkpoints itself. */
  readonly database: Pick<Database, "logPages" | "checkpoint">;
  readonly databasePath: string;
  /** Called with the error of a failed checkpoint, which the next check repeats. */
  readonly onError: (error: unknown) => void;
};

export type CheckpointData = { readonly databasePath: string; readonly restPages: number };

/** Checks the length of the log regularly. The returned function waits for a running checkpoint. */
export function startCheckpoints(
  { pages, maxPages, restPages, intervalMs }: CheckpointOptions,
  { database, databasePath, onError }: CheckpointDeps,
): () => Promise<void> {
  let running: Promise<void> | undefined;

  async function copy(): Promise<void> {
    const workerData: CheckpointData = { databasePath, restPages };
    const worker = new Worker(moduleBeside(import.meta.url, "checkpoint-thread"), { workerData });
    try {
      // Rejects with an error of the thread.
      await once(worker, "exit");
      const { total, copied } = database.logPages();
      if (total - copied <= restPages) database.checkpoint();
    } catch (error) {
      onError(error);
    }
    running = undefined;
  }

  function check(): void {
    try {
      const { total, copied } = database.logPages();
      if (total >= maxPages) database.checkpoint();
      else if (total - copied >= pages) running ??= copy();
    } catch (error) {
      onError(error);
    }
  }

  const timer = setInterval(check, intervalMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
