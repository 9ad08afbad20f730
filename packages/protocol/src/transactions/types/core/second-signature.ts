/** 1/1 registration of a second public key (transactions.md 6.3). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { none, publicKeyText, record, u63 } from "../members.ts";
import type { TransactionType } from "../type.ts";

export const secondSignature: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 1,
  key: "secondSignature",
  schema: {
    required: ["asset"],
    properties: {
      amount: none,
      fee: u63(1),
      // Never second-signed itself.
      secondSignature: { not: {} },
      asset: record({ signature: record({ publicKey: publicKeyText }) }),
    },
  },
  write: ({ asset }, writer) => writer.hex(assetMember(asset, "signature").publicKey, 33),
  read: (reader) => ({ asset: { signature: { publicKey: reader.hex(33) } } }),
  staticFee: () => 500_000_000n,
};
