/** 2001/2 resignation of a delegate (transactions.md 6.3): no payload. */
import { TYPE_GROUPS } from "../../type-groups.ts";
import { delegateResignation } from "../core/delegate-resignation.ts";
import type { TransactionType } from "../type.ts";

export const unsDelegateResign: TransactionType = {
  ...delegateResignation,
  typeGroup: TYPE_GROUPS.uns,
  type: 2,
  key: "UnsDelegateResign",
  schema: { properties: { ...delegateResignation.schema.properties, typeGroup: { const: TYPE_GROUPS.uns } } },
  staticFee: () => 10_000_000n,
};
