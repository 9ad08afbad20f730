/** Payments of certified mints and updates besides their fee (state.md 4.1). */
import { present, type Transaction } from "@uniknode/protocol";
import { credit, saveWallet, walletOf } from "../../wallets.ts";
import { rewardOf } from "./economy.ts";
import type { RuleContext } from "./rule.ts";

/**
 * Returns the amount that a rewarded sender receives before the checks: its reward and its fee. The forger receives the
 * fee too, so that the fee is created (trap A5).
 */
export function advanceReward(transaction: Transaction, context: RuleContext): bigint {
  const reward = rewardOf(transaction, context);
  return reward ? transaction.fee + reward.sender : 0n;
}

/**
 * The recipient receives the cost, and the foundation receives its share of a reward. The network's description has the
 * public key of the foundation, which its wallet has from the first reward on (state.md 2.2).
 */
export function payService(transaction: Transaction, context: RuleContext): void {
  const { draft, network } = context;
  credit(draft, present(transaction.recipientId, "recipientId"), transaction.amount);
  const { foundation } = network.description;
  const reward = rewardOf(transaction, context);
  if (!reward || !foundation) return;
  const wallet = walletOf(draft, foundation.publicKey, network);
  saveWallet(draft, { ...wallet, balance: wallet.balance + reward.foundation });
}
