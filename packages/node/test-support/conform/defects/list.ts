/** All defects. */
import { ARRIVALS } from "./arrivals.ts";
import { CONTENTS } from "./contents.ts";
import type { Defect } from "./defect.ts";
import { FORGERIES } from "./forgeries.ts";
import { REPETITION } from "./repetition.ts";
import { RESTARTS } from "./restarts.ts";
import { RETRACTIONS } from "./retractions.ts";

export const DEFECTS: readonly Defect[] = [
  ...CONTENTS,
  ...ARRIVALS,
  ...FORGERIES,
  ...REPETITION,
  ...RETRACTIONS,
  ...RESTARTS,
];
