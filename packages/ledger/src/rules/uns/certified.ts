/** Certified change of properties, and certified transfer of a token (transactions-rules.md 6.2 and 6.3). */
import { assetMember, present, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Wallet } from "../../state/tables.ts";
import { credit } from "../../wallets.ts";
import { checkTransfer } from "../nft/transfer.ts";
import { checkUpdate } from "../nft/update.ts";
import {
  checkCertification,
  checkFreeService,
  checkPaidCertification,
  costOf,
  invalidParameter,
} from "../shared/certification.ts";
import { CERTIFIED_UPDATE, nftOf, rewardOf } from "../shared/economy.ts";
import { RuleError } from "../shared/error.ts";
import { advanceReward, payService } from "../shared/payments.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";
import { receiveToken, sendToken, updateToken } from "../shared/tokens.ts";

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

/** The token that the demand names may differ from the transferred one. */
function checkCertifiedTransfer(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  checkTransfer(transaction, context, sender); // 1
  checkCertification(transaction, context); // 2
  const { sub, cryptoAccountAddress } = assetMember(transaction.asset, "demand").payload;
  // 3: a token that does not exist has no owner
  if (context.state.get("tokens", sub)?.ownerId !== sender.address) throw invalidParameter("sender");
  if (transaction.recipientId !== cryptoAccountAddress) throw invalidParameter("recipient"); // 4
}

/** The owner of the issuing token is the one after the transfer, which may have been of that token (trap A19). */
function payIssuer(transaction: Transaction, { draft }: RuleContext): void {
  const { iss } = assetMember(transaction.asset, "certification").payload;
  credit(draft, present(draft.get("tokens", iss), "the issuing token").ownerId, costOf(transaction));
}

export const certifiedTransfer: Rule = {
  typeGroup: TYPE_GROUPS.uns,
  type: 6,
  // The cost is not part of the amount: it is subtracted from the sender before the checks.
  advance: (transaction) => -costOf(transaction),
  check: checkCertifiedTransfer,
  applyToSender: sendToken,
  applyToRecipient(transaction, context) {
    receiveToken(transaction, context);
    payIssuer(transaction, context);
  },
};
