/** Change of a bridgechain (transactions-rules.md 4 type 5). */
import { assetMember, present, TYPE_GROUPS } from "@uniknode/protocol";
import { walletOf } from "../../wallets.ts";
import { checkCommon } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import {
  businessNotRegistered,
  checkPortNames,
  findBridgechain,
  requireBridgechain,
  requireBusiness,
  saveBridgechain,
} from "./business.ts";

export const bridgechainUpdate: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 5,

  check(transaction, context, sender) {
    const { bridgechainId, ports } = assetMember(transaction.asset, "bridgechainUpdate");
    requireBusiness(sender, businessNotRegistered);
    requireBridgechain(context.draft, sender, bridgechainId);
    if (ports) checkPortNames(ports);
    checkCommon(transaction, context, sender);
  },

  applyToSender(transaction, context) {
    const { bridgechainId, ...changes } = present(
      transaction.asset?.bridgechainUpdate,
      "asset.bridgechainUpdate",
    );
    const { draft, network } = context;
    const sender = walletOf(draft, transaction.senderPublicKey, network);
    const bridgechain = present(findBridgechain(draft, sender, bridgechainId), "the bridgechain");
    const bridgechainAsset = { ...bridgechain.bridgechainAsset, ...changes };
    saveBridgechain(transaction, context, bridgechainId, { ...bridgechain, bridgechainAsset });
  },
};
