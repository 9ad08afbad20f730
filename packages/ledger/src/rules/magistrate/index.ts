import type { Rule } from "../shared/rule.ts";
import { bridgechainRegistration } from "./bridgechain-registration.ts";
import { bridgechainResignation } from "./bridgechain-resignation.ts";
import { bridgechainUpdate } from "./bridgechain-update.ts";
import { businessRegistration } from "./business-registration.ts";
import { businessResignation } from "./business-resignation.ts";
import { businessUpdate } from "./business-update.ts";
import { entity } from "./entity.ts";

/** Group 2 (transactions-rules.md 4). */
export const magistrateRules: readonly Rule[] = [
  businessRegistration,
  businessResignation,
  businessUpdate,
  bridgechainRegistration,
  bridgechainResignation,
  bridgechainUpdate,
  entity,
];
