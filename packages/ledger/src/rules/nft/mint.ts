/** Minting a token, also the base of the certified mint (transactions-rules.md 5.1 and 6.1). */
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Wallet } from "../../state/tables.ts";
import { type CommonChecks, checkCommon, refusal } from "../shared/common.ts";
import { checkConstraints, checkGenesisProperties, checkSizes } from "../shared/constraints.ts";
import { nftOf } from "../shared/economy.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";
import { holds, mintToken } from "../shared/tokens.ts";

/**
 * The checks of transactions-rules.md 5.1 in their order.
 *
 * @throws {RuleError} the first refusal
 */
export function checkMint(
  transaction: Transaction,
  context: RuleContext,
  sender: Wallet,
  options?: CommonChecks,
): void {
  const { name, token } = nftOf(transaction);
  // 1: whatever its name.
  if (isOwned(token.tokenId, context, sender)) {
    throw refusal("NftOwnedError", `token '${token.tokenId}' is already owned`);
  }
  checkSizes(token); // 2
  checkGenesisProperties(name, token); // 3
  checkConstraints(context.state, name, token); // 4
  checkCommon(transaction, context, sender, options); // 5
}

/** Returns true if the token exists on the chain, or a pending transaction of another sender mints it. */
const isOwned = (tokenId: string, { state, draft, isMintPending }: RuleContext, sender: Wallet): boolean =>
  state.get("tokens", tokenId) !== undefined ||
  holds(draft, sender, tokenId) ||
  isMintPending?.(tokenId) === true;

export const nftMint: Rule = {
  typeGroup: TYPE_GROUPS.nft,
  type: 0,
  check: checkMint,
  applyToSender: mintToken,
};
