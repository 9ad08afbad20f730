/** Resignation of a bridgechain (transactions-rules.md 4 type 4). */
import { present, TYPE_GROUPS } from "@uniknode/protocol";
import { walletOf } from "../../wallets.ts";
import { checkCommon } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import {
  findBridgechain,
  requireBridgechain,
  requireBusiness,
  saveBridgechain,
  walletNotBusiness,
} from "./business.ts";

export const bridgechainResignation: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 4,

  check(transaction, context, sender) {
    const { bridgechainId } = present(
      transaction.asset?.bridgechainResignation,
      "asset.bridgechainResignation",
    );
    requireBusiness(sender, walletNotBusiness);
    requireBridgechain(context.draft, sender, bridgechainId);
    checkCommon(transaction, context, sender);
  },

  applyToSender(transaction, context) {
    const { bridgechainId } = present(
      transaction.asset?.bridgechainResignation,
      "asset.bridgechainResignation",
    );
    const { draft, network } = context;
    const sender = walletOf(draft, transaction.senderPublicKey, network);
    const bridgechain = present(findBridgechain(draft, sender, bridgechainId), "the bridgechain");
    saveBridgechain(transaction, context, bridgechainId, { ...bridgechain, resigned: true });
  },
};
