/** 1/9 claim of a hash time lock by its secret (transactions.md 6.3). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { hashText, none, record } from "../members.ts";
import type { TransactionType } from "../type.ts";

export const htlcClaim: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 9,
  key: "htlcClaim",
  schema: {
    properties: {
      amount: none,
      fee: none,
      asset: record({ claim: record({ lockTransactionId: hashText, unlockSecret: hashText }) }),
    },
  },
  write({ asset }, writer) {
    const { lockTransactionId, unlockSecret } = assetMember(asset, "claim");
    writer.hex(lockTransactionId, 32);
    writer.hex(unlockSecret, 32);
  },
  read: (reader) => ({
    asset: { claim: { lockTransactionId: reader.hex(32), unlockSecret: reader.hex(32) } },
  }),
  staticFee: () => 0n,
};
