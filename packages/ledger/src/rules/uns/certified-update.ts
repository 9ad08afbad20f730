/** Certified change of properties (transactions-rules.md 6.2). */
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Wallet } from "../../state/tables.ts";
import { checkFreeService, checkPaidCertification } from "../../uns/certification.ts";
import { advanceReward, payService } from "../../uns/payments.ts";
import { updateToken } from "../../uns/tokens.ts";
import { rewardOf } from "../economy.ts";
import { checkUpdate } from "../nft/update.ts";
import type { Rule, RuleContext } from "../rule.ts";

/** An alive demand is rewarded each time (trap A15). */
function checkCertifiedUpdate(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const reward = rewardOf(transaction, context);
  checkUpdate(transaction, context, sender, { skipsBalance: reward !== undefined }); // 1, 2
  checkPaidCertification(transaction, context); // 3
  if (reward) checkFreeService(transaction, reward.forger); // 4
}

export const certifiedUpdate: Rule = {
  typeGroup: TYPE_GROUPS.uns,
  type: 4,
  advance: advanceReward,
  check: checkCertifiedUpdate,
  applyToSender: updateToken,
  applyToRecipient: payService,
};
