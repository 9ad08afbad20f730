/** Vote and unvote of a holder of uniks (transactions-rules.md 7.4). */
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { findHolding } from "../../state/holdings.ts";
import type { Wallet } from "../../state/tables.ts";
import { walletOf } from "../../wallets.ts";
import { applyVote, checkVote, voteOf } from "../core/vote.ts";
import { RuleError } from "../shared/error.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";

export const noUnik = ({ id }: Transaction): RuleError =>
  new RuleError("NoUnikError", `Failed to apply transaction ${id}: the crypto-account has no UniknameID`);

/**
 * The first token in order of acquisition gives the type of the voter. A genesis delegate has no type, so that it can
 * be neither voted nor unvoted with this transaction type (trap A7).
 */
function checkUnikVote(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const { first } = sender.attributes.tokens ?? {};
  if (first === undefined) throw noUnik(transaction); // 1
  const unik = findHolding(context.draft, { address: sender.address, kind: "tokens" }, first);
  const target = walletOf(context.state, voteOf(transaction).delegate, context.network);
  // 2
  const type = unik?.type;
  // A type can be NaN, which equals no other, and is stored as null.
  if (!Number.isInteger(type) || type !== target.attributes.delegate?.type) {
    throw new RuleError(
      "VoteUnikTypeError",
      `Failed to apply vote transaction ${transaction.id}: the type of the UniknameID supporter (voter) ` +
        "must be the same type as the one of the delegate",
    );
  }
  checkVote(transaction, context, sender); // 3
}

export const unsVote: Rule = {
  typeGroup: TYPE_GROUPS.uns,
  type: 5,
  check: checkUnikVote,
  applyToSender: applyVote,
};
