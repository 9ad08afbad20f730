/**
 * Finds the slots of this node's delegates that have no block on the chain. The forger itself does not know
 * the slots that passed while it was not running, or blocks that another branch has replaced.
 */
import { missedSlots, type Round } from "@uniknode/ledger";
import type { BlockHeader, Slots } from "@uniknode/protocol";
import type { SlotStore } from "../store/node/slots.ts";

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

/** Returns a function to call with every block that became the head. */
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
