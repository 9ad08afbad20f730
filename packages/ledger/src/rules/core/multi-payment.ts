/** Payments to many recipients (transactions-rules.md 3.7). */
import { assetMember, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { addressOf, credit } from "../../wallets.ts";
import { checkCommon, insufficientBalance } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";

/** Sum of the payments; the amount of the transaction itself is 0. */
export const paymentsTotal = ({ asset }: Transaction): bigint =>
  assetMember(asset, "payments").reduce((sum, { amount }) => sum + amount, 0n);

export const multiPayment: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 6,

  check(transaction, context, sender) {
    // 1: before the nonce
    if (sender.balance < paymentsTotal(transaction) + transaction.fee) throw insufficientBalance();
    checkCommon(transaction, context, sender); // 2
  },

  applyToSender: (transaction, { draft, network }) =>
    credit(draft, addressOf(transaction.senderPublicKey, network), -paymentsTotal(transaction)),

  applyToRecipient({ asset }, { draft }) {
    for (const { recipientId, amount } of assetMember(asset, "payments")) credit(draft, recipientId, amount);
  },
};
