/** Certified change of properties (transactions-rules.md 6.2). */
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Wallet } from "../../state/tables.ts";
import { checkUpdate } from "../nft/update.ts";
import { checkFreeService, checkPaidCertification } from "../shared/certification.ts";
import { CERTIFIED_UPDATE, nftOf, rewardOf } from "../shared/economy.ts";
import { RuleError } from "../shared/error.ts";
import { advanceReward, payService } from "../shared/payments.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";
import { updateToken } from "../shared/tokens.ts";

/** An alive demand is rewarded each time (trap A15). */
function checkCertifiedUpdate(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  // Trap A28: only a name with a line break passes the schema without properties.
  if (nftOf(transaction).token.properties === undefined)
    throw new RuleError("Error", "the update has no properties");
  const reward = rewardOf(transaction, context);
  checkUpdate(transaction, context, sender, { skipsBalance: reward !== undefined }); // 1, 2
  checkPaidCertification(transaction, context); // 3
  if (reward) checkFreeService(transaction, reward.forger); // 4
}

export const certifiedUpdate: Rule = {
  typeGroup: TYPE_GROUPS.uns,
  type: CERTIFIED_UPDATE,
  advance: advanceReward,
  check: checkCertifiedUpdate,
  applyToSender: updateToken,
  applyToRecipient: payService,
};
