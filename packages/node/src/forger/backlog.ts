/** Keeps the reasons of missed slots that cannot be written yet, for instance because the disk is full. */
import type { SlotStore } from "../store/node/slots.ts";

/** Maximum number of reasons: several hours of a delegate's slots. The oldest are dropped first. */
const MAX_WAITING = 1_000;

/**
 * A store whose `recordMissed` never fails: reasons that could not be written wait for the next write.
 *
 * @param onFailed called with the error that kept a reason from being written
 */
export function withBacklog(store: SlotStore, onFailed: (error: unknown) => void): SlotStore {
  const waiting: Parameters<SlotStore["recordMissed"]>[] = [];

  function writeWaiting(): void {
    try {
      for (let missed = waiting[0]; missed; missed = waiting[0]) {
        store.recordMissed(...missed);
        waiting.shift();
      }
    } catch (error) {
      onFailed(error);
    }
  }

  return {
    ...store,
    recordMissed(...missed) {
      if (waiting.length >= MAX_WAITING) waiting.shift();
      waiting.push(missed);
      writeWaiting();
    },
    recordForged(...forged) {
      store.recordForged(...forged);
      writeWaiting();
    },
  };
}
