/** 2/1 resignation of a business (transactions.md 6.3): no payload. */
import type { TransactionType } from "../type.ts";
import { magistrateSchema } from "./members.ts";

export const businessResignation: TransactionType = {
  typeGroup: 2,
  type: 1,
  key: "businessResignation",
  schema: magistrateSchema(),
  write() {},
  read: () => ({}),
  staticFee: () => 5_000_000_000n,
};
