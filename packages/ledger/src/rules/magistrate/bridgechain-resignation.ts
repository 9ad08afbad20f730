/** Resignation of a bridgechain (transactions-rules.md 4 type 4). */
import { present, TYPE_GROUPS } from "@uniknode/protocol";
import { checkCommon } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import {
  changeBusiness,
  requireBridgechain,
  requireBusiness,
  walletNotBusiness,
  withBridgechain,
} from "./business.ts";

export const bridgechainResignation: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 4,

  check(transaction, context, sender) {
    const { bridgechainId } = present(
      transaction.asset?.bridgechainResignation,
      "asset.bridgechainResignation",
    );
    requireBridgechain(requireBusiness(sender, walletNotBusiness), bridgechainId);
    checkCommon(transaction, context, sender);
  },

  applyToSender(transaction, context) {
    const { bridgechainId } = present(
      transaction.asset?.bridgechainResignation,
      "asset.bridgechainResignation",
    );
    changeBusiness(transaction, context, (business) =>
      withBridgechain(business, bridgechainId, {
        ...present(business.bridgechains?.[bridgechainId], "the bridgechain"),
        resigned: true,
      }),
    );
  },
};
