/** Resignation of a business (transactions-rules.md 4 type 1). */
import { TYPE_GROUPS } from "@uniknode/protocol";
import { checkCommon, refusal } from "../shared/common.ts";
import type { Rule } from "../shared/rule.ts";
import { businessNotRegistered, changeBusiness, requireBusiness } from "./business.ts";

export const businessResignation: Rule = {
  typeGroup: TYPE_GROUPS.magistrate,
  type: 1,

  check(transaction, context, sender) {
    const { bridgechains } = requireBusiness(sender, businessNotRegistered);
    if (bridgechains?.active) {
      throw refusal("BridgechainsAreNotResignedError", "the business bridgechain(s) are not resigned.");
    }
    checkCommon(transaction, context, sender);
  },

  applyToSender: (transaction, context) =>
    changeBusiness(transaction, context, (business) => ({ ...business, resigned: true })),
};
