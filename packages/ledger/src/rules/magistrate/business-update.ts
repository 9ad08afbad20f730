/** Change of a business (transactions-rules.md 4 type 2). */
import { TYPE_GROUPS } from "@uniknode/protocol";
import { checkCommon } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import { businessNotRegistered, changeBusiness, requireBusiness } from "./business.ts";

export const businessUpdate: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 2,

  check(transaction, context, sender) {
    requireBusiness(sender, businessNotRegistered);
    checkCommon(transaction, context, sender);
  },

  applyToSender: (transaction, context) =>
    changeBusiness(transaction, context, (business) => ({
      ...business,
      businessAsset: { ...business.businessAsset, ...transaction.asset?.businessUpdate },
    })),
};
