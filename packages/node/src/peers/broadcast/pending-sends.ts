/** What is being passed on while nobody waits for it, until the node ends. */
import { setTimeout as sleep } from "node:timers/promises";

export type PendingSends = {
  /** Lets work go on by itself. */
  add(work: Promise<unknown>): void;
  /** Settles when all of it has ended, or the time is over. */
  ended(withinMs: number): Promise<void>;
};

/** @param onFailure hears what work has thrown */
export function createPendingSends(onFailure: (error: unknown) => void): PendingSends {
  const works = new Set<Promise<unknown>>();
  return {
    add(work) {
      const watched: Promise<unknown> = work.catch(onFailure).finally(() => works.delete(watched));
      works.add(watched);
    },
    async ended(withinMs) {
      const late = new AbortController();
      await Promise.race([
        Promise.all(works),
        sleep(withinMs, undefined, { signal: late.signal }).catch(() => {}),
      ]);
      late.abort();
    },
  };
}
