/**
 * Opens a round when the block before its first height is applied, and finds missed slots and idle delegates, which have no penalty
 * (consensus.md 5).
 */
import {
  delegateOfSlot,
  forgingOrder,
  type Milestone,
  present,
  type RoundInfo,
  type Slots,
} from "@uniknode/protocol";
import type { Draft } from "../state/draft.ts";
import type { Round, Wallet } from "../state/tables.ts";
import { saveDelegate } from "../wallets.ts";
import { type DelegateWallet, rankDelegates } from "./ranking.ts";

/**
 * Ranks the delegates and fixes the forging order of a round, which is never computed again (trap B5).
 *
 * @param info of the first height of the round: its number of delegates is used
 * @param milestone of two heights below: its quotas and weights are used (trap A2)
 * @returns the active delegates, rank 1 first
 * @throws {Error} if there are fewer candidates than places
 */
export function openRound(draft: Draft, info: RoundInfo, milestone: Milestone): DelegateWallet[] {
  const { round, roundHeight, maxDelegates } = info;
  const active = rankDelegates(draft, milestone).slice(0, maxDelegates);
  if (active.length < maxDelegates) {
    throw new Error(
      `Expected to find ${maxDelegates} delegates but only found ${active.length}. This indicates an issue with the genesis block & delegates.`,
    );
  }
  const record: Round = {
    round,
    height: roundHeight,
    delegates: active.map(({ publicKey, attributes }) => ({
      publicKey,
      voteBalance: attributes.delegate.voteBalance,
    })),
    order: forgingOrder(
      round,
      active.map(({ publicKey }) => publicKey),
    ),
  };
  draft.set("rounds", String(round), record);
  return active.map((wallet) => {
    const delegate = { ...wallet.attributes.delegate, round };
    saveDelegate(draft, wallet, delegate);
    return { ...wallet, attributes: { ...wallet.attributes, delegate } };
  });
}

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
