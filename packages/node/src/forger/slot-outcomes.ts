/** Outcomes of the slots of this node's delegates: counts them, and finds the slots without a block on the chain. */
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

/** Counts outcomes that this process has found: also slots that were missed while no process ran. */
export class Tally {
  readonly #slotStore: Pick<SlotStore, "recordMissed" | "missedAt">;
  #forged = 0;
  #missed = 0;
  readonly #refused: Record<SigningRefusalKind, number> = {
    signed_before: 0,
    watching: 0,
    other_forger: 0,
    head_in_future: 0,
  };

  constructor(slotStore: Pick<SlotStore, "recordMissed" | "missedAt">) {
    this.#slotStore = slotStore;
  }

  /** Records a missed slot. It is already counted if a later block has shown the gap. */
  recordMissed(publicKey: string, slot: number, reason: string): void {
    if (!this.#slotStore.missedAt(slot).some((missed) => missed.publicKey === publicKey)) this.gapFound();
    this.#slotStore.recordMissed(publicKey, slot, reason);
  }

  /** Called when the chain has no block in a slot that was not recorded. */
  gapFound(): void {
    this.#missed++;
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

export type GapDeps = {
  /** Returns true if a delegate is one of this node's. */
  readonly isOurs: (publicKey: string) => boolean;
  readonly slots: Slots;
  readonly slotStore: Pick<SlotStore, "forgedBy" | "recordGap" | "forgetMissed">;
  readonly headerAt: (height: number) => BlockHeader | undefined;
  /** The round that a height belongs to. */
  readonly roundOf: (height: number) => Round | undefined;
  /** Called for each slot that had no reason before. */
  readonly onFound: () => void;
  readonly nowMs: () => number;
};

/** Missed slots older than this are no longer explained. */
const MAX_AGE_SLOTS = 20_000;

/**
 * Finds slots without a block on the chain. The forger itself does not know the slots that passed while it was not running, or
 * blocks that another branch has replaced.
 */
export class Gaps {
  readonly #deps: GapDeps;
  readonly #startSlot: number;

  constructor(deps: GapDeps) {
    this.#deps = deps;
    this.#startSlot = this.#currentSlot();
  }

  /** Must be called with every block that became the head. */
  blockApplied({ height, timestamp, generatorPublicKey }: BlockHeader): void {
    const { isOurs, slots, slotStore, headerAt, roundOf, onFound } = this.#deps;
    const slot = slots.slotAt(timestamp);
    if (slot < this.#currentSlot() - MAX_AGE_SLOTS) return;
    if (isOurs(generatorPublicKey)) slotStore.forgetMissed(generatorPublicKey, slot);
    const previous = headerAt(height - 1);
    const round = roundOf(height);
    if (!previous || !round || slots.slotAt(previous.timestamp) === slot - 1) return;
    for (const { slot: missed, delegate } of missedSlots(slots, round, previous, timestamp)) {
      if (isOurs(delegate) && slotStore.recordGap(delegate, missed, this.#reasonOf(delegate, missed)))
        onFound();
    }
  }

  #reasonOf(publicKey: string, slot: number): string {
    const isForged = this.#deps.slotStore.forgedBy(publicKey)?.slot === slot;
    if (isForged) return "the block of the slot is on another branch";
    if (slot <= this.#startSlot) return "the node was not running";
    return "the node's head was a different block, after which the slot belonged to another delegate";
  }

  #currentSlot(): number {
    const { slots, nowMs } = this.#deps;
    return slots.slotAt(slots.timeAt(nowMs()));
  }
}
