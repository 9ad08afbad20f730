/** Applies one transaction (transactions-rules.md 2.1). */
import type { Transaction } from "@uniknode/protocol";
import { requireRule } from "./rules/registry.ts";
import { spend } from "./rules/shared/common.ts";
import type { Rule, RuleContext } from "./rules/shared/rule.ts";
import { lockToClaim, moveVotes } from "./votes.ts";
import { saveWallet, walletOf } from "./wallets.ts";

/**
 * Applies a transaction as the next one of a block: checks, effects, vote balances. A refused transaction
 * changes nothing (trap B1).
 *
 * @throws {RuleError} the first refusal
 */
export function applyTransaction(transaction: Transaction, context: RuleContext): void {
  const { draft } = context;
  const mark = draft.mark();
  try {
    const rule = requireRule(transaction, context); // step 1
    const claimed = lockToClaim(transaction, context); // step 2
    payAndApply(rule, transaction, context); // step 3
    rule.applyToRecipient?.(transaction, context); // step 4
    moveVotes(transaction, context, claimed); // step 5
  } catch (error) {
    draft.rollback(mark);
    throw error;
  }
}

/**
 * Applies only the sender's part, as the pool does at admission: against the pool's wallet of the sender in
 * `context.draft`, and the chain in `context.state`. The token store written there is part of the overlay.
 *
 * @throws {RuleError} the first refusal; the draft is then as before
 */
export function applyToSender(transaction: Transaction, context: RuleContext): void {
  const { draft } = context;
  const mark = draft.mark();
  try {
    payAndApply(requireRule(transaction, context), transaction, context);
  } catch (error) {
    draft.rollback(mark);
    throw error;
  }
}

/** Step 3: advance, checks of the type, nonce and balance, effects on the sender and the token store. */
function payAndApply(rule: Rule, transaction: Transaction, context: RuleContext): void {
  const { draft, network } = context;
  const known = walletOf(draft, transaction.senderPublicKey, network);
  const advance = rule.advance?.(transaction, context) ?? 0n;
  const sender = advance === 0n ? known : { ...known, balance: known.balance + advance };
  // The checks read the sender from the state, with its key and its credit.
  if (sender !== draft.get("wallets", sender.address)) saveWallet(draft, sender);
  rule.check(transaction, context, sender);
  spend(transaction, context, sender);
  rule.applyToSender?.(transaction, context);
}
