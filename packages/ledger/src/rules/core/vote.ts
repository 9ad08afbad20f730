/** Vote and unvote, also the base of the one by unik (transactions-rules.md 3.4 and 7.4). */
import { present, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Wallet } from "../../state/tables.ts";
import { saveWallet, walletOf, withAttribute } from "../../wallets.ts";
import { checkCommon, refusal } from "../shared/common.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";

/** The vote of a transaction: vote or unvote, and the delegate's public key. */
export function voteOf({ asset }: Transaction): { isGiven: boolean; delegate: string } {
  const vote = present(asset?.votes?.[0], "asset.votes");
  return { isGiven: vote.startsWith("+"), delegate: vote.slice(1) };
}

/**
 * The checks of transactions-rules.md 3.4 in their order. A resigned delegate may be unvoted but not voted (trap A16).
 *
 * @throws {RuleError} the first refusal
 */
export function checkVote(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const { isGiven, delegate } = voteOf(transaction);
  const target = walletOf(context.state, delegate, context.network).attributes.delegate;
  const { vote } = sender.attributes;
  if (isGiven) {
    // 1
    if (vote !== undefined) throw refusal("AlreadyVotedError", "the sender wallet has already voted.");
    // 2
    if (target?.resigned) {
      throw refusal("VotedForResignedDelegateError", "it votes for a resigned delegate.");
    }
  } else {
    // 3
    if (vote === undefined) throw refusal("NoVoteError", "the wallet has not voted.");
    // 4
    if (vote !== delegate) throw refusal("UnvoteMismatchError", "the wallet vote does not match.");
  }
  // 5
  if (target === undefined) throw refusal("VotedForNonDelegateError", "only delegates can be voted.");
  checkCommon(transaction, context, sender); // 6
}

export function applyVote(transaction: Transaction, { draft, network }: RuleContext): void {
  const { isGiven, delegate } = voteOf(transaction);
  const sender = walletOf(draft, transaction.senderPublicKey, network);
  saveWallet(draft, withAttribute(sender, "vote", isGiven ? delegate : undefined));
}

export const vote: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 3,
  check: checkVote,
  applyToSender: applyVote,
};
