/** Transfer (transactions-rules.md 3.1). */
import { present, TYPE_GROUPS } from "@uniknode/protocol";
import { credit } from "../../wallets.ts";
import { checkCommon } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";

export const transfer: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 0,
  check: (transaction, context, sender) => checkCommon(transaction, context, sender),
  applyToRecipient: ({ recipientId, amount }, { draft }) =>
    credit(draft, present(recipientId, "recipientId"), amount),
};
