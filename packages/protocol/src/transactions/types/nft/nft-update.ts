/** 2000/1 change of the properties of a token (transactions.md 6.5). */
import { none, record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { nftSchema, readNft, writeNft } from "./payload.ts";

export const nftUpdate: TransactionType = {
  typeGroup: 2000,
  type: 1,
  key: "NftUpdate",
  schema: {
    required: ["asset"],
    properties: {
      typeGroup: { const: 2000 },
      amount: none,
      asset: record({ nft: nftSchema(["tokenId", "properties"]) }),
    },
  },
  write: ({ asset }, writer) => writeNft(asset!.nft!, writer),
  read: (reader) => ({ asset: { nft: readNft(reader) } }),
  staticFee: () => 10_000_000n,
};
