/**
 * Makes rankings in another thread: nothing else waits for it. A thread takes longer to begin than most rankings to be
 * made, and so it stays for a while; then it ends, for the rows of a long one leave it with much memory.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { RankingDependencies } from "./rankings.ts";
import type { Ranked, RankingAt } from "./reading.ts";

export type RankingBuilder = {
  /** To be asked for one at a time. */
  build: RankingDependencies["build"];
  /** Ends what is being made. */
  close(): Promise<void>;
};

/** What the thread needs, as plain values. */
export type BuilderData = { readonly databasePath: string };
export type ToBuilder = { readonly ranked: Ranked; readonly maxBytes: number };

const STAYS_MS = 60_000;

/** @param onError told of what keeps a ranking from being made */
export function createRankingBuilder(
  databasePath: string,
  onError: (error: unknown) => void,
): RankingBuilder {
  let worker: Worker | undefined;
  let leaving: NodeJS.Timeout | undefined;

  function start(): Worker {
    const workerData: BuilderData = { databasePath };
    const started = new Worker(new URL("./worker.ts", import.meta.url), { workerData });
    started.once("exit", () => {
      if (worker === started) worker = undefined;
    });
    return started;
  }

  async function end(): Promise<void> {
    clearTimeout(leaving);
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  }

  return {
    async build(ranked, maxBytes) {
      clearTimeout(leaving);
      worker ??= start();
      worker.postMessage({ ranked, maxBytes } satisfies ToBuilder);
      const heard = new AbortController();
      const gone = once(worker, "exit", heard).then(() => []);
      try {
        const [built] = (await Promise.race([once(worker, "message", heard), gone])) as [RankingAt?];
        return built;
      } catch (error) {
        // Its end may be told of later than this.
        worker = undefined;
        onError(error);
        throw error;
      } finally {
        heard.abort();
        leaving = setTimeout(end, STAYS_MS).unref();
      }
    },
    close: end,
  };
}
