/** Waits for the matcher. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RegisterStorage } from "../register/rows.ts";

/** Maximum wait of an update of the register; the new definition then matches the remaining events. */
const MAX_WAIT_MS = 2_000;
const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;

/**
 * Creates a function that settles when every event logged before its call was matched, or after a timeout.
 *
 * @param notify runs the matcher
 */
export function createAwaitMatched(
  { lastEvent, lastMatched }: Pick<RegisterStorage, "lastEvent" | "lastMatched">,
  notify: () => void,
): () => Promise<void> {
  return async () => {
    const last = await lastEvent();
    const endMs = performance.now() + MAX_WAIT_MS;
    // The matcher may run in another process, which is reached through the database.
    for (
      let pauseMs = FIRST_PAUSE_MS;
      (await lastMatched()) < last;
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
    ) {
      if (performance.now() >= endMs) return;
      notify();
      await sleep(pauseMs);
    }
  };
}
