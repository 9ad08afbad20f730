/** Resignation of a delegate, also the base of the one by unik (transactions-rules.md 3.8 and 7.3). */
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { StateReader, Wallet } from "../../state/tables.ts";
import { delegateOf, saveDelegate, walletAt, walletOf } from "../../wallets.ts";
import { checkCommon, refusal } from "../shared/common.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";

/**
 * The checks of transactions-rules.md 3.8 in their order.
 *
 * @throws {RuleError} the first refusal
 */
export function checkResignation(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const { delegate } = sender.attributes;
  // 1
  if (delegate === undefined) throw refusal("WalletNotADelegateError", "the wallet is not a delegate.");
  // 2
  if (delegate.resigned) {
    throw refusal("WalletAlreadyResignedError", "the wallet already resigned as delegate.");
  }
  // 3
  if (!hasActive(context.state, context.milestone.activeDelegates + 1)) {
    throw refusal("NotEnoughDelegatesError", "not enough delegates to allow resignation.");
  }
  checkCommon(transaction, context, sender); // 4
}

/** Returns true if at least `count` delegates have not resigned, the sender included. Reads no more delegates than it must. */
function hasActive(state: StateReader, count: number): boolean {
  let active = 0;
  for (const address of state.delegates()) {
    if (walletAt(state, address).attributes.delegate?.resigned) continue;
    if (++active >= count) return true;
  }
  return false;
}

/** Votes are not changed; the delegate is not ranked from the next round on. */
export function resign({ senderPublicKey }: Transaction, { draft, network }: RuleContext): void {
  const sender = walletOf(draft, senderPublicKey, network);
  saveDelegate(draft, sender, { ...delegateOf(sender), resigned: true });
}

export const delegateResignation: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 7,
  check: checkResignation,
  applyToSender: resign,
};
