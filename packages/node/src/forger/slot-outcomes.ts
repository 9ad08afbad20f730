/**
 * Outcomes of the slots of this node's delegates: counts them, keeps reasons of missed slots that cannot be written yet,
 * and finds the slots without a block on the chain.
 */
import { missedSlots, type Round } from "@uniknode/ledger";
import type { BlockHeader, Slots } from "@uniknode/protocol";
import type { SigningRefusalKind } from "../gateway/figures.ts";
import type { SlotStore } from "../store/node/slots.ts";

export type SlotCounts = {
  /** Forged blocks that the chain accepted. */
  readonly forged: number;
  readonly missed: number;
  /** Slots that were not signed, by the reason; they are missed as well. */
  readonly refused: Readonly<Record<SigningRefusalKind, number>>;
};

/** Counts outcomes since the process started. */
export class Tally {
  /** Counts each missed slot, and forwards each call to the store. */
  readonly slotStore: SlotStore;
  #forged = 0;
  #missed = 0;
  readonly #refused: Record<SigningRefusalKind, number> = {
    ...{ signed_before: 0, watching: 0, other_forger: 0, head_in_future: 0 },
  };

  constructor(store: SlotStore) {
    this.slotStore = {
      ...store,
      recordMissed: (...slot) => {
        store.recordMissed(...slot);
        this.#missed++;
      },
    };
  }

  /** Called when the chain accepted a forged block. */
  forged(): void {
    this.#forged++;
  }

  /** Called when a slot was not signed. */
  refused(kind: SigningRefusalKind): void {
    this.#refused[kind]++;
  }

  read(): SlotCounts {
    return { forged: this.#forged, missed: this.#missed, refused: { ...this.#refused } };
  }
}

/** Maximum number of waiting reasons: several hours of a delegate's slots. The oldest are dropped first. */
const MAX_WAITING = 1_000;

/**
 * A store whose `recordMissed` never fails: reasons that could not be written, for instance because the disk is full, wait
 * for the next write.
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

export type GapDeps = {
  /** Returns true if a delegate is one of this node's. */
  readonly isOurs: (publicKey: string) => boolean;
  readonly slots: Slots;
  readonly slotStore: Pick<SlotStore, "lastForged" | "recordGap" | "forgetMissed">;
  readonly headerAt: (height: number) => BlockHeader | undefined;
  /** The round that a height belongs to. */
  readonly roundOf: (height: number) => Round | undefined;
  readonly nowMs: () => number;
};

/** Missed slots older than this are no longer explained. */
const MAX_AGE_SLOTS = 20_000;

/**
 * Returns a function to call with every block that became the head. The forger itself does not know the slots that passed
 * while it was not running, or blocks that another branch has replaced.
 */
export function createGaps(deps: GapDeps): (header: BlockHeader) => void {
  const { isOurs, slots, slotStore, headerAt, roundOf, nowMs } = deps;
  const currentSlot = () => slots.slotAt(slots.timeAt(nowMs()));
  const startSlot = currentSlot();

  function reasonOf(publicKey: string, slot: number): string {
    if (slotStore.lastForged(publicKey) === slot) return "the block of the slot is on another branch";
    if (slot <= startSlot) return "the node was not running";
    return "the node's head was a different block, after which the slot belonged to another delegate";
  }

  return (header) => {
    const { height, timestamp, generatorPublicKey } = header;
    const slot = slots.slotAt(timestamp);
    if (slot < currentSlot() - MAX_AGE_SLOTS) return;
    if (isOurs(generatorPublicKey)) slotStore.forgetMissed(generatorPublicKey, slot);
    const previous = headerAt(height - 1);
    const round = roundOf(height);
    if (!previous || !round || slots.slotAt(previous.timestamp) === slot - 1) return;
    for (const { slot: missed, delegate } of missedSlots(slots, round, previous, timestamp)) {
      if (isOurs(delegate)) slotStore.recordGap(delegate, missed, reasonOf(delegate, missed));
    }
  };
}
