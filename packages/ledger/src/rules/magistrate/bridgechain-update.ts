/** Change of a bridgechain (transactions-rules.md 4 type 5). */
import { assetMember, present, TYPE_GROUPS } from "@uniknode/protocol";
import { checkCommon } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import {
  businessNotRegistered,
  changeBusiness,
  checkPortNames,
  requireBridgechain,
  requireBusiness,
  withBridgechain,
} from "./business.ts";

export const bridgechainUpdate: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 5,

  check(transaction, context, sender) {
    const { bridgechainId, ports } = assetMember(transaction.asset, "bridgechainUpdate");
    requireBridgechain(requireBusiness(sender, businessNotRegistered), bridgechainId);
    if (ports) checkPortNames(ports);
    checkCommon(transaction, context, sender);
  },

  applyToSender(transaction, context) {
    const { bridgechainId, ...changes } = present(
      transaction.asset?.bridgechainUpdate,
      "asset.bridgechainUpdate",
    );
    changeBusiness(transaction, context, (business) => {
      const bridgechain = present(business.bridgechains?.[bridgechainId], "the bridgechain");
      const bridgechainAsset = { ...bridgechain.bridgechainAsset, ...changes };
      return withBridgechain(business, bridgechainId, { ...bridgechain, bridgechainAsset });
    });
  },
};
