/**
 * Rounds: the delegate of a slot (consensus.md 4), the round that opens when the block before its first height is applied, and missed
 * slots and idle delegates, which have no penalty (consensus.md 5).
 */
import {
  delegateOfSlot,
  forgingOrder,
  type Milestone,
  present,
  type RoundInfo,
  type Rounds,
  type Slots,
} from "@uniknode/protocol";
import type { Draft } from "../state/draft.ts";
import type { Round, StateReader, Wallet } from "../state/tables.ts";
import { saveDelegate } from "../wallets.ts";
import { type DelegateWallet, rankDelegates } from "./ranking.ts";

type Calendar = { readonly rounds: Rounds; readonly slots: Slots };

/** A round with the order that the nodes of the network use for it. */
type KnownRound = Pick<Round, "delegates" | "order">;

/**
 * The delegates of the round of `height`, and their forging order; undefined if the round is not stored.
 *
 * The nodes of the network use the stored order for the round of the next height. The order of a finished round they
 * rebuild from the stored vote balances only, and judge a second version of its last block by it: they reject the block
 * where the true order would cause a rollback. Trap B6 calls this a fault, but another verdict of this node would only
 * split the network's reaction to such a block. The stored order itself is never replaced.
 *
 * @param headHeight height of the last accepted block
 */
export function roundOf(
  state: StateReader,
  { rounds }: Calendar,
  headHeight: number,
  height: number,
): KnownRound | undefined {
  const { round } = rounds.roundAt(height);
  const record = state.get("rounds", String(round));
  if (!record) return undefined;
  const isHeld = round === rounds.roundAt(headHeight + 1).round;
  return {
    delegates: record.delegates,
    order: isHeld ? record.order : forgingOrder(round, byBalance(record)),
  };
}

/** Vote balance descending, then public key ascending. */
const byBalance = ({ delegates }: Round): string[] =>
  delegates
    .toSorted((a, b) => {
      if (a.voteBalance !== b.voteBalance) return a.voteBalance > b.voteBalance ? -1 : 1;
      return a.publicKey < b.publicKey ? -1 : 1;
    })
    .map(({ publicKey }) => publicKey);

/** Returns true if the generator of a block is the delegate of its slot; true if the order is unknown. */
export const isFromDelegateOfSlot = (
  round: KnownRound | undefined,
  { slots }: Calendar,
  { generatorPublicKey, timestamp }: { generatorPublicKey: string; timestamp: number },
): boolean =>
  round === undefined || delegateOfSlot(round.order, slots.slotAt(timestamp)) === generatorPublicKey;

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
