/** 2/0 registration of a business (transactions.md 6.4). */
import { assetMember } from "../../asset.ts";
import { TYPE_GROUPS } from "../../type-groups.ts";
import { record } from "../members.ts";
import type { TransactionType } from "../type.ts";
import { readBusiness, writeBusiness } from "./business.ts";
import { businessMembers, magistrateSchema } from "./members.ts";
import { writeText } from "./texts.ts";

export const businessRegistration: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 0,
  key: "businessRegistration",
  schema: magistrateSchema(record({ businessRegistration: record(businessMembers, ["name", "website"]) })),
  write: ({ asset }, writer) => writeBusiness(assetMember(asset, "businessRegistration"), writer, writeText),
  read(reader) {
    const { name = "", website = "", ...optional } = readBusiness(reader);
    return { asset: { businessRegistration: { name, website, ...optional } } };
  },
  staticFee: () => 5_000_000_000n,
};
