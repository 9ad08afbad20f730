/**
 * Vote balances after a transaction (transactions-rules.md 8). They are updated by increments, which in three
 * cases do not add up to the balances of the voters; the ranking uses them nevertheless (trap A6).
 */
import type { Transaction } from "@uniknode/protocol";
import { withWeight } from "./rounds/ranking.ts";
import { findLock, type HeldLock } from "./rules/core/locks.ts";
import { paymentsTotal } from "./rules/core/multi-payment.ts";
import { voteOf } from "./rules/core/vote.ts";
import { isAliveDemand, type Reward, rewardOf, voucherOf } from "./rules/shared/economy.ts";
import type { RuleContext } from "./rules/shared/rule.ts";
import type { Wallet } from "./state/tables.ts";
import { saveDelegate, walletAt, walletOf } from "./wallets.ts";

/** The lock that a claim closes, read before the claim is applied. */
export const lockToClaim = ({ asset }: Transaction, { state }: RuleContext): HeldLock | undefined =>
  asset?.claim && findLock(state, asset.claim.lockTransactionId);

/**
 * Updates the vote balances after an applied transaction.
 *
 * @param claimed result of `lockToClaim` from before the transaction was applied
 */
export function moveVotes(
  transaction: Transaction,
  context: RuleContext,
  claimed: HeldLock | undefined,
): void {
  const { draft, network } = context;
  const sender = walletOf(draft, transaction.senderPublicKey, network);
  if (transaction.asset?.votes) countVote(transaction, context, sender);
  else followAmounts(transaction, context, sender, claimed);
}

/**
 * Applies to every type except votes: an amount that a wallet pays or receives also changes the balance of
 * its delegate.
 */
function followAmounts(
  transaction: Transaction,
  context: RuleContext,
  sender: Wallet,
  claimed: HeldLock | undefined,
): void {
  const { draft, network } = context;
  const reward = rewardOf(transaction, context);
  follow(context, sender, senderChange(transaction, context, reward, claimed));
  // The sender of the claim was credited above, even if another wallet receives the amount (trap A6c).
  if (claimed) follow(context, walletAt(draft, claimed.owner.address), -claimed.lock.amount);
  for (const { recipientId, amount } of transaction.asset?.payments ?? []) {
    follow(context, walletAt(draft, recipientId), amount);
  }
  const { foundation } = network.description;
  if (reward && foundation) {
    follow(context, walletOf(draft, foundation.publicKey, network), reward.foundation);
  }
  if (transaction.recipientId !== undefined && !transaction.asset?.lock) {
    follow(context, walletAt(draft, transaction.recipientId), transaction.amount);
  }
}

/** A vote adds the balance of its wallet; an unvote subtracts the balance from before its fee. */
function countVote(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const { isGiven, delegate } = voteOf(transaction);
  const total = sender.balance + (sender.attributes.htlc?.lockedBalance ?? 0n);
  addVotes(context, delegate, isGiven ? total : -(total + transaction.fee));
}

/** The change of the vote balance of the sender's delegate. */
function senderChange(
  transaction: Transaction,
  { milestone }: RuleContext,
  reward: Reward | undefined,
  claimed: HeldLock | undefined,
): bigint {
  const { amount, fee, asset } = transaction;
  if (reward) return reward.sender;
  // Without a reward, but neither fee nor cost is subtracted (trap A6a).
  if (voucherOf(transaction) !== undefined) return 0n;
  if (milestone.unsTokenEcoV2 && isAliveDemand(transaction)) return 0n;
  if (asset?.lock) return -fee;
  if (claimed) return claimed.lock.amount - fee;
  if (asset?.payments) return -paymentsTotal(transaction) - fee;
  return -amount - fee; // the cost of a certified transfer is not counted as an amount (trap A6b)
}

/** Adds an amount to the vote balance of the delegate that a wallet votes for. */
function follow(context: RuleContext, { attributes }: Wallet, change: bigint): void {
  if (attributes.vote !== undefined) addVotes(context, attributes.vote, change);
}

function addVotes({ draft, network, milestone }: RuleContext, publicKey: string, change: bigint): void {
  const wallet = walletOf(draft, publicKey, network);
  const delegate = wallet.attributes.delegate;
  if (!delegate) return;
  const moved = change === 0n ? delegate : { ...delegate, voteBalance: delegate.voteBalance + change };
  const weighted = withWeight(draft, publicKey, moved, milestone);
  if (weighted !== delegate) saveDelegate(draft, wallet, weighted);
}
