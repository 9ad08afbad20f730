/** Claim of a locked amount by its secret (transactions-rules.md 3.9). Any wallet may send it. */
import { assetMember, bytesToHex, hexToBytes, sha256, TYPE_GROUPS } from "@uniknode/protocol";
import { credit } from "../../wallets.ts";
import { checkGeneric, refusal } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import { isExpired, lockExpired, removeLock, requireLock } from "./locks.ts";

export const htlcClaim: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 9,

  check(transaction, context, sender) {
    checkGeneric(transaction, context, sender);
    const { lockTransactionId, unlockSecret } = assetMember(transaction.asset, "claim");
    const { lock } = requireLock(context.state, lockTransactionId);
    if (isExpired(lock.expiration, context)) throw lockExpired();
    if (bytesToHex(sha256(hexToBytes(unlockSecret))) !== lock.secretHash) {
      throw refusal(
        "HtlcSecretHashMismatchError",
        "the secret provided does not match the associated HTLC lock transaction secret.",
      );
    }
  },

  /** The recipient of the lock receives the amount, whichever wallet claims it. */
  applyToRecipient({ asset, fee }, { draft }) {
    const held = requireLock(draft, assetMember(asset, "claim").lockTransactionId);
    removeLock(draft, held);
    credit(draft, held.lock.recipientId, held.lock.amount - fee);
  },
};
