/** Registration of a business (transactions-rules.md 4 type 0). */
import { assetMember, TYPE_GROUPS } from "@uniknode/protocol";
import { saveWallet, walletOf, withAttribute } from "../../wallets.ts";
import { checkCommon, refusal } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";

export const businessRegistration: Rule = {
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
