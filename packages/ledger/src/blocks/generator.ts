/** The reward of the generator of a block (consensus.md 6.3). */
import type { BlockHeader, Network } from "@uniknode/protocol";
import type { Draft } from "../state/draft.ts";
import type { Delegate } from "../state/tables.ts";
import { saveDelegate, saveWallet, walletOf } from "../wallets.ts";

/**
 * Credits the generator with reward and fees, counts the block for it, and updates the vote balance of its delegate.
 * The weighted vote balance is updated by the next transaction or ranking (state.md 5.2).
 */
export function rewardGenerator(draft: Draft, network: Network, header: BlockHeader): void {
  const earned = header.reward + header.totalFee;
  const wallet = walletOf(draft, header.generatorPublicKey, network);
  const credited = { ...wallet, balance: wallet.balance + earned };
  const { delegate, vote } = wallet.attributes;
  if (delegate) saveDelegate(draft, credited, withBlock(delegate, header));
  else saveWallet(draft, credited);
  if (vote === undefined || earned === 0n) return;
  const target = walletOf(draft, vote, network);
  const voted = target.attributes.delegate;
  if (voted) saveDelegate(draft, target, { ...voted, voteBalance: voted.voteBalance + earned });
}

/** The statistics of state.md 2.1. */
const withBlock = (
  delegate: Delegate,
  { id, height, timestamp, totalFee, reward }: BlockHeader,
): Delegate => ({
  ...delegate,
  forgedFees: delegate.forgedFees + totalFee,
  forgedRewards: delegate.forgedRewards + reward,
  producedBlocks: delegate.producedBlocks + 1,
  lastBlock: { id, height, timestamp },
});
