/** 1/2 registration of a delegate (transactions.md 6.3). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { none, record, u63 } from "../members.ts";
import type { TransactionType } from "../type.ts";

export const delegateRegistration: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 2,
  key: "delegateRegistration",
  schema: {
    required: ["asset"],
    properties: {
      amount: none,
      fee: u63(1),
      asset: record({
        delegate: record({
          username: { type: "string", minLength: 1, maxLength: 20, pattern: "^[a-z0-9!@$&_.]+$" },
        }),
      }),
    },
  },
  write: ({ asset }, writer) => writer.shortText(assetMember(asset, "delegate").username),
  // The length counts bytes when written and characters when read (transactions.md 6.4).
  read: (reader) => ({ asset: { delegate: { username: reader.characters(reader.u8()) } } }),
  staticFee: () => 2_500_000_000n,
};
