/** All scenarios in the order in which they are played. */
import type { Scenario } from "../stage.ts";
import { ACCEPTANCE } from "./acceptance.ts";
import { REPETITION, RESTARTS } from "./repetition.ts";
import { RETRACTIONS_OF_FACTS } from "./retractions.ts";
import { VERIFICATION } from "./verification.ts";

/** Scenarios by group. */
export const GROUPS: Readonly<Record<string, readonly Scenario[]>> = {
  acceptance: ACCEPTANCE,
  verification: VERIFICATION,
  repetition: REPETITION,
  retractions: RETRACTIONS_OF_FACTS,
  restarts: RESTARTS,
};

export const SCENARIOS: readonly Scenario[] = Object.values(GROUPS).flat();
