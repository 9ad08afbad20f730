/** Counts what became of the slots of this node's delegates since the process started. */
import type { SlotStore } from "../store/slots.ts";

export type Tally = {
  /** Counts what it is told, and passes it on. */
  readonly slotStore: SlotStore;
  /** A block was forged and taken. */
  forged(): void;
  read(): { readonly forged: number; readonly missed: number };
};

export function createTally(store: SlotStore): Tally {
  let forged = 0;
  let missed = 0;
  return {
    slotStore: {
      ...store,
      recordMissed(...slot) {
        store.recordMissed(...slot);
        missed++;
      },
    },
    forged: () => void forged++,
    read: () => ({ forged, missed }),
  };
}
