/** Registration of a second key (transactions-rules.md 3.2). */
import { assetMember, TYPE_GROUPS } from "@uniknode/protocol";
import { saveWallet, walletOf, withAttribute } from "../../wallets.ts";
import {
  checkCommon,
  isMultiSignatureWallet,
  multiSignatureNotSupported,
  refusal,
} from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";

export const secondSignature: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 1,

  check(transaction, context, sender) {
    // 1
    if (sender.attributes.secondPublicKey !== undefined) {
      throw refusal("SecondSignatureAlreadyRegisteredError", "second signature is already enabled.");
    }
    // 2
    if (isMultiSignatureWallet(context, sender)) throw multiSignatureNotSupported();
    checkCommon(transaction, context, sender); // 3
  },

  applyToSender({ senderPublicKey, asset }, { draft, network }) {
    const sender = walletOf(draft, senderPublicKey, network);
    saveWallet(draft, withAttribute(sender, "secondPublicKey", assetMember(asset, "signature").publicKey));
  },
};
