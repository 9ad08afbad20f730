/** Registration of a bridgechain (transactions-rules.md 4 type 3). */
import { assetMember, type BridgechainAsset, present, TYPE_GROUPS } from "@uniknode/protocol";
import type { StateReader, Wallet } from "../../state/tables.ts";
import { checkCommon, refusal } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import {
  checkPortNames,
  findBridgechain,
  hasBridgechainNamed,
  requireBusiness,
  saveBridgechain,
  walletNotBusiness,
} from "./business.ts";

/** Names and genesis hashes are compared within the business only. */
function checkUnique(state: StateReader, sender: Wallet, { name, genesisHash }: BridgechainAsset): void {
  if (hasBridgechainNamed(state, sender, name)) {
    throw refusal("BridgechainAlreadyRegisteredError", "bridgechain is already registered.");
  }
  if (findBridgechain(state, sender, genesisHash)) {
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
    requireBusiness(sender, walletNotBusiness);
    checkUnique(context.draft, sender, registered);
    checkPortNames(registered.ports);
    checkCommon(transaction, context, sender);
  },

  applyToSender(transaction, context) {
    const bridgechainAsset = present(
      transaction.asset?.bridgechainRegistration,
      "asset.bridgechainRegistration",
    );
    saveBridgechain(transaction, context, bridgechainAsset.genesisHash, { bridgechainAsset });
  },
};
