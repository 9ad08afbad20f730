/** Registration of an IPFS hash (transactions-rules.md 3.6). */
import { assetMember, TYPE_GROUPS } from "@uniknode/protocol";
import { addHolding } from "../../state/holdings.ts";
import { saveWallet, walletOf, withAttribute } from "../../wallets.ts";
import { checkCommon, refusal } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";

export const ipfs: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 5,

  check(transaction, context, sender) {
    // 1
    if (context.state.get("ipfs", assetMember(transaction.asset, "ipfs")) !== undefined) {
      throw refusal("IpfsHashAlreadyExists", "this IPFS hash is already registered on the blockchain.");
    }
    checkCommon(transaction, context, sender); // 2
  },

  applyToSender({ senderPublicKey, asset }, { draft, network }) {
    const sender = walletOf(draft, senderPublicKey, network);
    const hash = assetMember(asset, "ipfs");
    const held = sender.attributes.ipfs?.hashes;
    const hashes = addHolding(draft, { address: sender.address, kind: "ipfs" }, held, [hash, true]);
    saveWallet(draft, withAttribute(sender, "ipfs", { hashes }));
    draft.set("ipfs", hash, sender.address);
  },
};
