/** Makes rankings in a thread that lives as long as that takes: nothing else waits for it. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { RankingDependencies } from "./rankings.ts";
import type { Ranked, RankingAt } from "./reading.ts";

export type RankingBuilder = {
  build: RankingDependencies["build"];
  /** Ends what is being made. */
  close(): Promise<void>;
};

/** What the thread needs, as plain values. */
export type BuilderData = {
  readonly databasePath: string;
  readonly ranked: Ranked;
  readonly maxBytes: number;
};

/** @param onError told of what keeps a ranking from being made */
export function createRankingBuilder(
  databasePath: string,
  onError: (error: unknown) => void,
): RankingBuilder {
  const workers = new Set<Worker>();
  return {
    async build(ranked, maxBytes) {
      const workerData: BuilderData = { databasePath, ranked, maxBytes };
      const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData });
      workers.add(worker);
      const gone = once(worker, "exit").then(() => []);
      try {
        const [built] = (await Promise.race([once(worker, "message"), gone])) as [RankingAt?];
        return built;
      } catch (error) {
        onError(error);
        throw error;
      } finally {
        workers.delete(worker);
      }
    },
    async close() {
      await Promise.all([...workers].map((worker) => worker.terminate()));
    },
  };
}
