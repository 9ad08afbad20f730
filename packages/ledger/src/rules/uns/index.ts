import type { Rule } from "../shared/rule.ts";
import { certifiedTransfer, certifiedUpdate } from "./certified.ts";
import { certifiedMint } from "./certified-mint.ts";
import { unsDelegateRegistration } from "./delegate-registration.ts";
import { unsDelegateResignation } from "./delegate-resignation.ts";
import { discloseExplicit } from "./disclose-explicit.ts";
import { unsVote } from "./vote.ts";

/** Group 2001 (transactions-rules.md 6 and 7). */
export const unsRules: readonly Rule[] = [
  discloseExplicit,
  unsDelegateRegistration,
  unsDelegateResignation,
  certifiedMint,
  certifiedUpdate,
  unsVote,
  certifiedTransfer,
];
