/** Registration, resignation and change of a business (transactions-rules.md 4 types 0 to 2). */
import { assetMember, present, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Attributes, Wallet } from "../../state/tables.ts";
import { saveWallet, walletOf, withAttribute } from "../../wallets.ts";
import { checkCommon, refusal } from "../shared/common.ts";
import type { RuleError } from "../shared/error.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";

type Business = NonNullable<Attributes["business"]>;

/** The message of some types for a wallet without a business. */
export const businessNotRegistered = (): RuleError =>
  refusal("BusinessIsNotRegisteredError", "wallet is not a business.");
export const walletNotBusiness = (): RuleError =>
  refusal("WalletIsNotBusinessError", "wallet is not a business.");

/**
 * The business of the sender, unless it has resigned.
 *
 * @throws {RuleError} the error from `missing`, or BusinessIsResignedError
 */
export function requireBusiness({ attributes }: Wallet, missing: () => RuleError): Business {
  const { business } = attributes;
  if (business === undefined) throw missing();
  if (business.resigned) throw refusal("BusinessIsResignedError", "business is resigned.");
  return business;
}

/** Writes the result of `change` for the sender's business. */
export function changeBusiness(
  { senderPublicKey }: Transaction,
  { draft, network }: RuleContext,
  change: (business: Business) => Business,
): void {
  const sender = walletOf(draft, senderPublicKey, network);
  const business = present(sender.attributes.business, "the business of the sender");
  saveWallet(draft, withAttribute(sender, "business", change(business)));
}

const businessRegistration: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 0,

  check(transaction, context, sender) {
    // Resigned businesses count, too.
    if (sender.attributes.business !== undefined) {
      throw refusal("BusinessAlreadyRegisteredError", "wallet was already registered as a business.");
    }
    checkCommon(transaction, context, sender);
  },

  applyToSender({ senderPublicKey, asset }, { draft, network }) {
    const sender = walletOf(draft, senderPublicKey, network);
    const business = {
      businessAsset: assetMember(asset, "businessRegistration"),
    };
    saveWallet(draft, withAttribute(sender, "business", business));
  },
};

const businessResignation: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 1,

  check(transaction, context, sender) {
    const { bridgechains } = requireBusiness(sender, businessNotRegistered);
    if (bridgechains?.active) {
      throw refusal("BridgechainsAreNotResignedError", "the business bridgechain(s) are not resigned.");
    }
    checkCommon(transaction, context, sender);
  },

  applyToSender: (transaction, context) =>
    changeBusiness(transaction, context, (business) => ({ ...business, resigned: true })),
};

const businessUpdate: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 2,

  check(transaction, context, sender) {
    requireBusiness(sender, businessNotRegistered);
    checkCommon(transaction, context, sender);
  },

  applyToSender: (transaction, context) =>
    changeBusiness(transaction, context, (business) => ({
      ...business,
      businessAsset: { ...business.businessAsset, ...transaction.asset?.businessUpdate },
    })),
};

/** Types 0 to 2 of group 2. */
export const businessRules: readonly Rule[] = [businessRegistration, businessResignation, businessUpdate];
