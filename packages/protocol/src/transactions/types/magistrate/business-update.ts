/** 2/2 change of a business (transactions.md 6.4). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { readBusiness, writeBusiness } from "./business.ts";
import { businessMembers, magistrateSchema } from "./members.ts";

export const businessUpdate: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 2,
  key: "businessUpdate",
  schema: magistrateSchema(
    record({
      businessUpdate: {
        ...record(businessMembers, []),
        anyOf: Object.keys(businessMembers).map((member) => ({ required: [member] })),
      },
    }),
  ),
  write: ({ asset }, writer) => writeBusiness(assetMember(asset, "businessUpdate"), writer),
  read: (reader) => ({ asset: { businessUpdate: readBusiness(reader) } }),
  staticFee: () => 5_000_000_000n,
};
