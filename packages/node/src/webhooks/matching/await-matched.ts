/** Waits for the matcher. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RegisterStorage } from "../register/rows.ts";

/** Maximum wait of an update of the register; the new definition then matches the remaining events. */
const MAX_WAIT_MS = 2_000;
const POLL_MS = 1;

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
    while ((await lastMatched()) < last && performance.now() < endMs) {
      notify();
      await sleep(POLL_MS);
    }
  };
}
