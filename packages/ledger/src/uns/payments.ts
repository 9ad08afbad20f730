/** What certified mints and updates move besides their fee (state.md 4.1). */
import type { Transaction } from "@uniknode/protocol";
import { rewardOf } from "../rules/economy.ts";
import type { RuleContext } from "../rules/rule.ts";
import { addressOf, credit } from "../wallets.ts";

/**
 * Before the checks, a rewarded sender gets its reward and its fee back; the forger is paid all the same, so that
 * the fee is created (trap A5).
 */
export function advanceReward(transaction: Transaction, context: RuleContext): bigint {
  const reward = rewardOf(transaction, context);
  return reward ? transaction.fee + reward.sender : 0n;
}

/** The cost goes to the recipient, and the foundation gets its share of a reward. */
export function payService(transaction: Transaction, context: RuleContext): void {
  const { draft, network } = context;
  credit(draft, transaction.recipientId!, transaction.amount);
  const { foundation } = network.description;
  const reward = rewardOf(transaction, context);
  if (reward && foundation) credit(draft, addressOf(foundation.publicKey, network), reward.foundation);
}
