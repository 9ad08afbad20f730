/** 2/1 resignation of a business (transactions.md 6.3): no payload. */
import { TYPE_GROUPS } from "../../type-groups.ts";
import type { TransactionType } from "../type.ts";
import { magistrateSchema } from "./members.ts";

export const businessResignation: TransactionType = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 1,
  key: "businessResignation",
  schema: magistrateSchema(),
  write() {},
  read: () => ({}),
  staticFee: () => 5_000_000_000n,
};
