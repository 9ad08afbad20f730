import type { TransactionType } from "../type.ts";
import { bridgechainRegistration } from "./bridgechainRegistration.ts";
import { bridgechainResignation } from "./bridgechainResignation.ts";
import { bridgechainUpdate } from "./bridgechainUpdate.ts";
import { businessRegistration } from "./businessRegistration.ts";
import { businessResignation } from "./businessResignation.ts";
import { businessUpdate } from "./businessUpdate.ts";
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
