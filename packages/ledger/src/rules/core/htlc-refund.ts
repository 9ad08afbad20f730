/** Refund of an expired lock to its owner (transactions-rules.md 3.9). Any wallet may send it. */
import { assetMember, TYPE_GROUPS } from "@uniknode/protocol";
import { credit } from "../../wallets.ts";
import { checkGeneric, refusal } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import { isExpired, removeLock, requireLock } from "./locks.ts";

export const htlcRefund: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 10,

  check(transaction, context, sender) {
    checkGeneric(transaction, context, sender);
    const { lock } = requireLock(context.state, assetMember(transaction.asset, "refund").lockTransactionId);
    if (!isExpired(lock.expiration, context)) {
      throw refusal("HtlcLockNotExpiredError", "the associated HTLC lock transaction did not expire yet.");
    }
  },

  applyToRecipient({ asset, fee }, { draft }) {
    const held = requireLock(draft, assetMember(asset, "refund").lockTransactionId);
    removeLock(draft, held);
    credit(draft, held.owner.address, held.lock.amount - fee);
  },
};
