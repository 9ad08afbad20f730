import type { TransactionType } from "../type.ts";
import { bridgechainRegistration } from "./bridgechain-registration.ts";
import { bridgechainResignation } from "./bridgechain-resignation.ts";
import { bridgechainUpdate } from "./bridgechain-update.ts";
import { businessRegistration } from "./business-registration.ts";
import { businessResignation } from "./business-resignation.ts";
import { businessUpdate } from "./business-update.ts";
import { entity } from "./entity.ts";

/** Types 0 to 6 of group 2. */
export const magistrateTypes: readonly TransactionType[] = [
  businessRegistration,
  businessResignation,
  businessUpdate,
  bridgechainRegistration,
  bridgechainResignation,
  bridgechainUpdate,
  entity,
];
