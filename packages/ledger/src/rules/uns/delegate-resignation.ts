/** Resignation of a delegate that registered by its unik (transactions-rules.md 7.3). */
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Wallet } from "../../state/tables.ts";
import { delegateOf, walletOf } from "../../wallets.ts";
import { checkResignation, resign } from "../core/delegate-resignation.ts";
import { RuleError } from "../shared/error.ts";
import { DELEGATE_BADGE, getProperty } from "../shared/properties.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";
import { badgeEffect, setProperties } from "../shared/token-effects.ts";

function checkUnikResignation(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const username = sender.attributes.delegate?.username;
  // 1, 2: the badge counts, whichever wallet wrote it (trap A9); genesis delegates have none
  if (!username || getProperty(context.state, username, DELEGATE_BADGE) !== "true") {
    throw new RuleError(
      "CryptoAccountNotADelegateError",
      "Failed to apply transaction: the crypto-account hasn't any UniknameID as a delegate",
    );
  }
  checkResignation(transaction, context, sender); // 3
}

function resignUnik(transaction: Transaction, context: RuleContext): void {
  const { draft, network } = context;
  resign(transaction, context);
  const { username } = delegateOf(walletOf(draft, transaction.senderPublicKey, network));
  setProperties(draft, badgeEffect(username, false));
}

export const unsDelegateResignation: Rule = {
  typeGroup: TYPE_GROUPS.uns,
  type: 2,
  check: checkUnikResignation,
  applyToSender: resignUnik,
};
