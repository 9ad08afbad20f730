/** Broadcasts that run in the background, until the node closes. */
import { setTimeout as sleep } from "node:timers/promises";

export type PendingSends = {
  /** Tracks work in the background. */
  add(work: Promise<unknown>): void;
  /** Settles when all work has ended, or after `withinMs`. */
  settled(withinMs: number): Promise<void>;
};

/** @param onFailure called with the error of failed work */
export function createPendingSends(onFailure: (error: unknown) => void): PendingSends {
  const pending = new Set<Promise<unknown>>();
  return {
    add(work) {
      const watched: Promise<unknown> = work.catch(onFailure).finally(() => pending.delete(watched));
      pending.add(watched);
    },
    async settled(withinMs) {
      const late = new AbortController();
      await Promise.race([
        Promise.all(pending),
        sleep(withinMs, undefined, { signal: late.signal }).catch(() => {}),
      ]);
      late.abort();
    },
  };
}
