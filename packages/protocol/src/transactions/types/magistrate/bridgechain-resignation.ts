/** 2/4 resignation of a bridgechain (transactions.md 6.4). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { hashText, record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { magistrateSchema } from "./members.ts";

export const bridgechainResignation: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 4,
  key: "bridgechainResignation",
  schema: magistrateSchema(record({ bridgechainResignation: record({ bridgechainId: hashText }) })),
  write: ({ asset }, writer) => writer.hex(assetMember(asset, "bridgechainResignation").bridgechainId, 32),
  read: (reader) => ({ asset: { bridgechainResignation: { bridgechainId: reader.hex(32) } } }),
  staticFee: () => 5_000_000_000n,
};
