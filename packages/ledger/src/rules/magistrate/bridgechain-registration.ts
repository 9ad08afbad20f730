/** Registration of a bridgechain (transactions-rules.md 4 type 3). */
import { assetMember, type BridgechainAsset, present, TYPE_GROUPS } from "@uniknode/protocol";
import { checkCommon, refusal } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import {
  type Business,
  changeBusiness,
  checkPortNames,
  requireBusiness,
  walletNotBusiness,
  withBridgechain,
} from "./business.ts";

/** Names and genesis hashes are compared within the business only. */
function checkUnique({ bridgechains = {} }: Business, { name, genesisHash }: BridgechainAsset): void {
  const isNameTaken = Object.values(bridgechains).some(
    ({ bridgechainAsset }) => bridgechainAsset.name.toLowerCase() === name.toLowerCase(),
  );
  if (isNameTaken) {
    throw refusal("BridgechainAlreadyRegisteredError", "bridgechain is already registered.");
  }
  if (bridgechains[genesisHash] !== undefined) {
    throw refusal(
      "GenesisHashAlreadyRegisteredError",
      "genesis hash is already registered by another bridgechain.",
    );
  }
}

export const bridgechainRegistration: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 3,

  check(transaction, context, sender) {
    const registered = assetMember(transaction.asset, "bridgechainRegistration");
    checkUnique(requireBusiness(sender, walletNotBusiness), registered);
    checkPortNames(registered.ports);
    checkCommon(transaction, context, sender);
  },

  applyToSender(transaction, context) {
    const bridgechainAsset = present(
      transaction.asset?.bridgechainRegistration,
      "asset.bridgechainRegistration",
    );
    changeBusiness(transaction, context, (business) =>
      withBridgechain(business, bridgechainAsset.genesisHash, { bridgechainAsset }),
    );
  },
};
