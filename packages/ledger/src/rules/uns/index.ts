import type { Rule } from "../rule.ts";
import { unsDelegateRegistration } from "./delegate-registration.ts";
import { unsDelegateResignation } from "./delegate-resignation.ts";
import { unsVote } from "./vote.ts";

/** Group 2001 (transactions-rules.md sections 6 and 7). */
export const unsRules: readonly Rule[] = [unsDelegateRegistration, unsDelegateResignation, unsVote];
