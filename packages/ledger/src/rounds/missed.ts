/** Missed slots and idle delegates (consensus.md 5). They have no penalty. */
import { delegateOfSlot, present, type Slots } from "@uniknode/protocol";
import type { Round, Wallet } from "../state/tables.ts";

export type MissedSlot = { readonly slot: number; readonly delegate: string };

/**
 * Returns the slots strictly between two blocks with their delegates, at most one round of slots.
 *
 * @param round of the later block
 */
export function missedSlots(
  slots: Slots,
  round: Round,
  previous: { height: number; timestamp: number },
  timestamp: number,
): MissedSlot[] {
  // Between the genesis block and block 2 are the years before the network started.
  if (previous.height === 1) return [];
  const first = slots.slotAt(previous.timestamp) + 1;
  const count = Math.min(slots.slotAt(timestamp) - first, round.order.length);
  if (count <= 0) return [];
  return Array.from({ length: count }, (_, index) => ({
    slot: first + index,
    delegate: present(delegateOfSlot(round.order, first + index), "the delegate of a slot"),
  }));
}

/** The delegates of a round, in the order of their ranks, that forged none of its blocks. */
export const idleDelegates = (round: Round, walletOf: (publicKey: string) => Wallet): Wallet[] =>
  round.delegates
    .map(({ publicKey }) => walletOf(publicKey))
    .filter(({ attributes }) => (attributes.delegate?.lastBlock?.height ?? 0) < round.height);
