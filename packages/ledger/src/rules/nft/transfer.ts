/** Giving a token to another wallet, also the base of the certified transfer (transactions-rules.md 5.3 and 6.3). */
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Wallet } from "../../state/tables.ts";
import { checkCommon } from "../shared/common.ts";
import { checkSizes } from "../shared/constraints.ts";
import { nftOf } from "../shared/economy.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";
import { checkHolder, receiveToken, sendToken } from "../shared/tokens.ts";

/**
 * The checks of transactions-rules.md 5.3 in their order. The properties have no constraint, not even `type` (trap A11).
 *
 * @throws {RuleError} the first refusal
 */
export function checkTransfer(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const { token } = nftOf(transaction);
  checkHolder(context.draft, sender, token.tokenId); // 1
  checkSizes(token); // 2
  checkCommon(transaction, context, sender); // 3
}

export const nftTransfer: Rule = {
  typeGroup: TYPE_GROUPS.nft,
  type: 2,
  check: checkTransfer,
  applyToSender: sendToken,
  applyToRecipient: receiveToken,
};
