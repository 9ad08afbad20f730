/** Waits for the matcher. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RegisterStorage } from "../register/rows.ts";

/** An update of the register does not wait longer: the events that are left are matched by the new definition. */
const MAX_WAIT_MS = 2_000;
const POLL_MS = 1;

/**
 * Makes a function that settles when every event that was logged before its call was matched, or after some time.
 *
 * @param notify lets the matcher run
 */
export function createMatched(
  { lastEvent, lastMatched }: Pick<RegisterStorage, "lastEvent" | "lastMatched">,
  notify: () => void,
): () => Promise<void> {
  return async () => {
    const last = lastEvent();
    const endMs = performance.now() + MAX_WAIT_MS;
    while (lastMatched() < last && performance.now() < endMs) {
      notify();
      await sleep(POLL_MS);
    }
  };
}
