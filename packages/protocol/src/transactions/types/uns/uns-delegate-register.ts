/** 2001/1 registration of a delegate by the id of its token (transactions.md 6.3). */
import { TYPE_GROUPS } from "../../type-groups.ts";
import { delegateRegistration } from "../core/delegate-registration.ts";
import { hashText, record } from "../members.ts";
import type { TransactionType } from "../type.ts";

export const unsDelegateRegister: TransactionType = {
  ...delegateRegistration,
  typeGroup: TYPE_GROUPS.uns,
  type: 1,
  key: "UnsDelegateRegister",
  schema: {
    required: ["asset", "typeGroup"],
    properties: {
      ...delegateRegistration.schema.properties,
      typeGroup: { const: TYPE_GROUPS.uns },
      // Written as text, so letter case is preserved.
      asset: record({ delegate: record({ username: hashText }) }),
    },
  },
  staticFee: () => 10_000_000n,
};
