/** 2000/2 transfer of a token (transactions.md 6.5). */

import { present } from "../../../present.ts";
import { readAddress, writeAddress } from "../../addresses.ts";
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { addressText, none, record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { nftSchema, readNft, writeNft } from "./payload.ts";

export const nftTransfer: TransactionType = {
  typeGroup: TYPE_GROUPS.nft,
  type: 2,
  key: "NftTransfer",
  schema: {
    required: ["asset", "recipientId"],
    properties: {
      typeGroup: { const: TYPE_GROUPS.nft },
      amount: none,
      recipientId: addressText,
      asset: record({ nft: nftSchema(["tokenId"]) }),
    },
  },
  write({ asset, recipientId }, writer) {
    writeNft(assetMember(asset, "nft"), writer);
    writeAddress(writer, present(recipientId, "recipientId"));
  },
  read: (reader) => ({ asset: { nft: readNft(reader) }, recipientId: readAddress(reader) }),
  staticFee: () => 10_000_000n,
};
