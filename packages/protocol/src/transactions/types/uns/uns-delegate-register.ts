/** 2001/1 registration of a delegate by the id of its token (transactions.md 6.3). */
import { delegateRegistration } from "../core/delegate-registration.ts";
import { hashText, record } from "../members.ts";
import type { TransactionType } from "../type.ts";

export const unsDelegateRegister: TransactionType = {
  ...delegateRegistration,
  typeGroup: 2001,
  type: 1,
  key: "UnsDelegateRegister",
  schema: {
    required: ["asset", "typeGroup"],
    properties: {
      ...delegateRegistration.schema.properties,
      typeGroup: { const: 2001 },
      // Written as text, so letter case is preserved.
      asset: record({ delegate: record({ username: hashText }) }),
    },
  },
  staticFee: () => 10_000_000n,
};
