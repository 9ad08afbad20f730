/** 2001/2 resignation of a delegate (transactions.md 6.3): no payload. */
import { delegateResignation } from "../core/delegate-resignation.ts";
import type { TransactionType } from "../type.ts";

export const unsDelegateResign: TransactionType = {
  ...delegateResignation,
  typeGroup: 2001,
  type: 2,
  key: "UnsDelegateResign",
  schema: { properties: { ...delegateResignation.schema.properties, typeGroup: { const: 2001 } } },
  staticFee: () => 10_000_000n,
};
