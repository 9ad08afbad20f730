/** All attacks on the verifier of proofs. */
import type { Attack } from "./attempt.ts";
import { contentAttacks } from "./contents.ts";
import { headerAttacks } from "./headers.ts";
import { keyAttacks } from "./keys.ts";
import { slotAttacks } from "./slots.ts";

export const ATTACKS: readonly Attack[] = [
  ...contentAttacks,
  ...headerAttacks,
  ...slotAttacks,
  ...keyAttacks,
];
