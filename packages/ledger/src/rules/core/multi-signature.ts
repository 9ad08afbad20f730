/** Registration of a multi signature wallet (transactions-rules.md 3.5). */
import {
  assetMember,
  IdentityError,
  multiSignaturePublicKey,
  type Network,
  type Transaction,
  TYPE_GROUPS,
} from "@uniknode/protocol";
import type { StateReader, Wallet } from "../../state/tables.ts";
import { saveWallet, walletOf, withAttribute } from "../../wallets.ts";
import { checkCommon, isSignedByParticipants, refusal } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";

const MAX_MINIMUM = 16;

export const multiSignature: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 4,

  check(transaction, context, sender) {
    const { min, publicKeys } = assetMember(transaction.asset, "multiSignature");
    // 1
    if (min < 1 || min > publicKeys.length || min > MAX_MINIMUM) {
      throw refusal("MultiSignatureMinimumKeysError", "too few keys were provided.");
    }
    // 2
    if (transaction.signatures?.length !== publicKeys.length) {
      throw refusal(
        "MultiSignatureKeyCountMismatchError",
        "the number of provided keys does not match the number of signatures.",
      );
    }
    // 3
    if (registeredWallet(context.state, transaction, context.network).attributes.multiSignature) {
      throw refusal("MultiSignatureAlreadyRegisteredError", "multi signature is already enabled.");
    }
    // 4: only `min` valid ones are needed (trap A17)
    if (!isSignedByParticipants(transaction, { min, publicKeys }, context)) {
      throw unverifiable();
    }
    checkCommon(transaction, context, sender); // 5
  },

  /** The sender only pays. */
  applyToRecipient(transaction, { draft, network }) {
    const { min, publicKeys } = assetMember(transaction.asset, "multiSignature");
    const wallet = registeredWallet(draft, transaction, network);
    saveWallet(draft, withAttribute(wallet, "multiSignature", { min, publicKeys }));
  },
};

/**
 * Returns the wallet whose public key is derived from the asset.
 *
 * @throws {RuleError} InvalidMultiSignatureError if the keys are not points of the curve, or have no sum
 */
function registeredWallet(state: StateReader, { asset }: Transaction, network: Network): Wallet {
  try {
    return walletOf(state, multiSignaturePublicKey(assetMember(asset, "multiSignature")), network);
  } catch (error) {
    if (error instanceof IdentityError) throw unverifiable();
    throw error;
  }
}

const unverifiable = () =>
  refusal("InvalidMultiSignatureError", "the multi signature could not be verified.");
