/** 1/3 vote (transactions.md 6.3). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { addressText, none, record, u63, voteText } from "../members.ts";
import type { TransactionType } from "../type.ts";

export const vote: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 3,
  key: "vote",
  schema: {
    required: ["asset"],
    properties: {
      amount: none,
      fee: u63(1),
      recipientId: addressText,
      asset: record({ votes: { type: "array", minItems: 1, maxItems: 1, items: voteText } }),
    },
  },
  write({ asset }, writer) {
    const votes = assetMember(asset, "votes");
    writer.u8(votes.length);
    for (const text of votes) {
      writer.u8(text.startsWith("+") ? 1 : 0);
      writer.hexPrefix(text.slice(1));
    }
  },
  read(reader) {
    const votes = Array.from({ length: reader.u8() }, () => {
      // Only the low half of the direction byte decides.
      const sign = (reader.u8() & 0x0f) === 1 ? "+" : "-";
      return sign + reader.hex(33);
    });
    return { asset: { votes } };
  },
  staticFee: () => 100_000_000n,
};
