/** Registration of a delegate by its unik (transactions-rules.md 7.2). The username is the token id. */
import { assetMember, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Wallet } from "../../state/tables.ts";
import { checkRegistration, register } from "../core/delegate-registration.ts";
import { heldType } from "../shared/economy.ts";
import { RuleError } from "../shared/error.ts";
import { kindName, typeFromText } from "../shared/kinds.ts";
import { EXPLICIT_VALUES, getProperty, TYPE } from "../shared/properties.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";
import { badgeEffect, setProperties } from "../shared/token-effects.ts";
import { checkHolder } from "../shared/tokens.ts";
import { noUnik } from "./vote.ts";

function checkUnikRegistration(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const tokenId = assetMember(transaction.asset, "delegate").username;
  const { tokens } = sender.attributes;
  if (tokens === undefined) throw noUnik(transaction); // 2
  checkHolder(context.draft, sender, tokenId); // 1
  // 3
  if (tokens.size > 1) {
    throw new RuleError(
      "CryptoAccountHasSeveralUniksError",
      "Failed to apply transaction: the crypto-account has several UniknameID",
    );
  }
  // 4: whichever wallet wrote the values (trap A9)
  if (!getProperty(context.state, tokenId, EXPLICIT_VALUES)) {
    throw new RuleError(
      "UnikNameNotDisclosedError",
      `Failed to apply transaction because the UniknameID "${tokenId}" is not disclosed`,
    );
  }
  checkKind(tokenId, context); // 5
  checkRegistration(transaction, context, sender); // 6
}

/** Uniks of networks need the network's permission. */
function checkKind(tokenId: string, { state, network }: RuleContext): void {
  if (network.description.delegateWhitelistUniks?.includes(tokenId)) return;
  const kind = kindName(typeFromText(getProperty(state, tokenId, TYPE)));
  if (kind === "individual" || kind === "organization") return;
  throw new RuleError(
    "InvalidUnikTypeError",
    `Failed to register a UniknameID as a delegate: a UniknameID of type "${kind?.toUpperCase()}" is not allowed`,
  );
}

/** The type is the one in the wallet; tokens that are added or removed later do not change it. */
function registerUnik(transaction: Transaction, context: RuleContext): void {
  const { draft, network } = context;
  const tokenId = assetMember(transaction.asset, "delegate").username;
  register(transaction, context, heldType(draft, transaction, network, tokenId));
  setProperties(draft, badgeEffect(tokenId, true));
}

export const unsDelegateRegistration: Rule = {
  typeGroup: TYPE_GROUPS.uns,
  type: 1,
  check: checkUnikRegistration,
  applyToSender: registerUnik,
};
