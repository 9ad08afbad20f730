/** 1/7 resignation of a delegate (transactions.md 6.3): no payload. */
import { TYPE_GROUPS } from "../../type-groups.ts";
import { none, u63 } from "../members.ts";
import type { TransactionType } from "../type.ts";

export const delegateResignation: TransactionType = {
  typeGroup: TYPE_GROUPS.core,
  type: 7,
  key: "delegateResignation",
  schema: { properties: { amount: none, fee: u63(1) } },
  write() {},
  read: () => ({}),
  staticFee: () => 2_500_000_000n,
};
