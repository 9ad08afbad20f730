/** Changing properties of a token, also the base of the certified update (transactions-rules.md 5.2 and 6.2). */
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Wallet } from "../../state/tables.ts";
import { type CommonChecks, checkCommon } from "../shared/common.ts";
import { checkConstraints, checkSizes } from "../shared/constraints.ts";
import { nftOf } from "../shared/economy.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";
import { checkHolder, updateToken } from "../shared/tokens.ts";

/**
 * The checks of transactions-rules.md 5.2 in their order. Only `type` is protected: the holder may write every other
 * property, whatever its meaning (trap A9).
 *
 * @throws {RuleError} the first refusal
 */
export function checkUpdate(
  transaction: Transaction,
  context: RuleContext,
  sender: Wallet,
  options?: CommonChecks,
): void {
  const { name, token } = nftOf(transaction);
  checkHolder(context.draft, sender, token.tokenId); // 1
  checkSizes(token); // 2
  checkConstraints(context.state, name, token); // 3
  checkCommon(transaction, context, sender, options); // 4
}

export const nftUpdate: Rule = {
  typeGroup: TYPE_GROUPS.nft,
  type: 1,
  check: checkUpdate,
  applyToSender: updateToken,
};
