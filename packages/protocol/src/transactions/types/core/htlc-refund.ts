/** 1/10 refund of an expired hash time lock (transactions.md 6.3). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { hashText, none, record } from "../members.ts";
import type { TransactionType } from "../type.ts";

export const htlcRefund: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 10,
  key: "htlcRefund",
  schema: {
    properties: {
      amount: none,
      fee: none,
      asset: record({ refund: record({ lockTransactionId: hashText }) }),
    },
  },
  write: ({ asset }, writer) => writer.hex(assetMember(asset, "refund").lockTransactionId, 32),
  read: (reader) => ({ asset: { refund: { lockTransactionId: reader.hex(32) } } }),
  staticFee: () => 0n,
};
