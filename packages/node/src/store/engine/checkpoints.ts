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
  /** Length of the log, in pages, from which this thread copies what the other thread left, because it failed or is too slow. */
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

/** Number of checks that are skipped after a checkpoint that copied nothing, because of a reader or a failure. */
const PAUSE_CHECKS = 20;

/** Checks the length of the log regularly. The returned function waits for a running checkpoint. */
export function startCheckpoints(
  { pages, maxPages, restPages, intervalMs }: CheckpointOptions,
  { database, databasePath, onError }: CheckpointDeps,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  let checksToSkip = 0;

  async function copy(): Promise<void> {
    try {
      const before = database.logPages();
      const hasFailed = !(await copyInThread());
      const { total, copied } = database.logPages();
      const isTooLong = total >= maxPages;
      // A reader, or a failure, kept the other thread from the end of the log. This thread does not copy what a reader leaves: it can be
      // gigabytes, for which blocks would wait.
      const isBlocked = copied < before.total && before.total <= total;
      if (hasFailed ? isTooLong : total - copied <= restPages || (isTooLong && !isBlocked))
        database.checkpoint();
      else if (copied === before.copied) checksToSkip = PAUSE_CHECKS;
    } catch (error) {
      onError(error);
    }
    running = undefined;
  }

  async function copyInThread(): Promise<boolean> {
    const workerData: CheckpointData = { databasePath, restPages };
    try {
      // Rejects with an error of the thread.
      await once(new Worker(moduleBeside(import.meta.url, "checkpoint-thread"), { workerData }), "exit");
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  function check(): void {
    if (running || checksToSkip-- > 0) return;
    try {
      const { total, copied } = database.logPages();
      if (total - copied >= pages) running = copy();
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
