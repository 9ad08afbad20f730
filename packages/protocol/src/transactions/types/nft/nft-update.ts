/** 2000/1 change of the properties of a token (transactions.md 6.5). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { none, record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { nftSchema, readNft, writeNft } from "./payload.ts";

export const nftUpdate: TransactionType = {
  typeGroup: TYPE_GROUPS.nft,
  type: 1,
  key: "NftUpdate",
  schema: {
    required: ["asset"],
    properties: {
      typeGroup: { const: TYPE_GROUPS.nft },
      amount: none,
      asset: record({ nft: nftSchema(["tokenId", "properties"]) }),
    },
  },
  write: ({ asset }, writer) => writeNft(assetMember(asset, "nft"), writer),
  read: (reader) => ({ asset: { nft: readNft(reader) } }),
  staticFee: () => 10_000_000n,
};
