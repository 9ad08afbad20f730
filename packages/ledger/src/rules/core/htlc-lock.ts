/** Locks an amount for the recipient that knows a secret (transactions-rules.md 3.9). */
import { assetMember, present, TYPE_GROUPS } from "@uniknode/protocol";
import { walletOf } from "../../wallets.ts";
import { checkCommon } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import { addLock, isExpired, lockExpired } from "./locks.ts";

export const htlcLock: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 8,

  check(transaction, context, sender) {
    // A lock must outlive the round that begins with it.
    const { activeDelegates, blocktime } = context.milestone;
    const margin = { seconds: blocktime * activeDelegates, blocks: activeDelegates };
    if (isExpired(assetMember(transaction.asset, "lock").expiration, context, margin)) throw lockExpired();
    checkCommon(transaction, context, sender);
  },

  applyToSender(transaction, { draft, network, blockTimestamp }) {
    const { id, amount, recipientId, vendorField, asset } = transaction;
    const { secretHash, expiration } = assetMember(asset, "lock");
    addLock(draft, walletOf(draft, transaction.senderPublicKey, network), id, {
      amount,
      recipientId: present(recipientId, "recipientId"),
      ...(blockTimestamp !== undefined && { timestamp: blockTimestamp }),
      ...(vendorField !== undefined && { vendorField }),
      secretHash,
      expiration,
    });
  },
};
