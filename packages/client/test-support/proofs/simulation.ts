/** Simulates attackers of the verifier, and counts what it accepts. */
import { present } from "@uniknode/protocol";
import { RULES } from "../../src/proofs/rules.ts";
import { createVerifyProof, type VerifyProof } from "../../src/proofs/verify.ts";
import { ATTACKS } from "./attacks/all.ts";
import { succeeds } from "./attacks/attempt.ts";
import { provenExample } from "./example.ts";
import { lie } from "./liar.ts";
import { createRandom, createScene, type Random } from "./scene.ts";

/** Numbers of delegates: each third is a different part of the whole. */
const SIZES = [4, 7, 10, 13, 23];

export type SimulationReport = {
  readonly runs: number;
  /** Accepted false statements, by the seed that repeats them. */
  readonly deceived: readonly { readonly seed: number; readonly name: string }[];
  /** True proofs that were not accepted. */
  readonly refused: readonly { readonly seed: number }[];
  readonly trueProofs: number;
};

/** Runs attacks: one half follows a plan, the other half combines by chance; each tenth run checks a true proof, too. */
export function simulateAttackers(
  { runs, seed }: { readonly runs: number; readonly seed: number },
  verify: VerifyProof = createVerifyProof(RULES),
): SimulationReport {
  const deceived: { seed: number; name: string }[] = [];
  const refused: { seed: number }[] = [];
  let trueProofs = 0;
  for (let run = 0; run < runs; run++) {
    const random = createRandom(seed + run);
    const name = run % 2 === 0 ? planned(run, random, verify) : byChance(random, verify);
    if (name !== undefined) deceived.push({ seed: seed + run, name });
    if (run % 10 !== 0) continue;
    trueProofs++;
    const { proof, checkpoint, nowMs, id } = provenExample(random, random.below(3));
    if (verify(proof, checkpoint, { nowMs, id }).verdict !== "final") refused.push({ seed: seed + run });
  }
  return { runs, deceived, refused, trueProofs };
}

/** Returns the name of an attack that succeeded. */
function planned(run: number, random: Random, verify: VerifyProof): string | undefined {
  const { name, attempt } = present(ATTACKS[(run / 2) % ATTACKS.length]);
  return succeeds(attempt(createScene(random, random.pick(SIZES))), verify) ? name : undefined;
}

function byChance(random: Random, verify: VerifyProof): string | undefined {
  const { proof, checkpoint, nowMs, isFalse } = lie(createScene(random, random.pick(SIZES)));
  return isFalse(verify(proof, checkpoint, { nowMs })) ? "combines by chance" : undefined;
}
