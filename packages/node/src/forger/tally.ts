/** Counts the outcomes of the slots of this node's delegates since the process started. */
import type { SigningRefusalKind } from "../gateway/figures.ts";
import type { SlotStore } from "../store/node/slots.ts";

export type SlotCounts = {
  /** Forged blocks that the chain accepted. */
  readonly forged: number;
  readonly missed: number;
  /** Slots that were not signed, by the reason; they are missed as well. */
  readonly refused: Readonly<Record<SigningRefusalKind, number>>;
};

export type Tally = {
  /** Counts each call and forwards it to the store. */
  readonly slotStore: SlotStore;
  /** Called when the chain accepted a forged block. */
  forged(): void;
  /** Called when a slot was not signed. */
  refused(kind: SigningRefusalKind): void;
  read(): SlotCounts;
};

export function createTally(store: SlotStore): Tally {
  let forged = 0;
  let missed = 0;
  const refused: Record<SigningRefusalKind, number> = {
    ...{ signed_before: 0, watching: 0, other_forger: 0, head_in_future: 0 },
  };
  return {
    slotStore: {
      ...store,
      recordMissed(...slot) {
        store.recordMissed(...slot);
        missed++;
      },
    },
    forged: () => void forged++,
    refused: (kind) => void refused[kind]++,
    read: () => ({ forged, missed, refused: { ...refused } }),
  };
}
