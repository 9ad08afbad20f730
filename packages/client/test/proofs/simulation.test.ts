/** `npm run proofs -- --runs 10000` runs as many. */
import { expect, test } from "vitest";
import { RULES } from "../../src/proofs/rules.ts";
import { createVerifyProof } from "../../src/proofs/verify.ts";
import { simulateAttackers } from "../../test-support/proofs/simulation.ts";

test("Attackers with a third of the keys deceive the verifier in none of 40 runs, and true proofs are accepted.", () => {
  const { deceived, refused, trueProofs } = simulateAttackers({ runs: 40, seed: 1 });
  expect({ deceived, refused, trueProofs }).toEqual({ deceived: [], refused: [], trueProofs: 4 });
});

test("The simulation finds a verifier that trusts all keys.", () => {
  const verify = createVerifyProof({
    ...RULES,
    signersOf: (headers) => new Set(headers.map(({ generatorPublicKey }) => generatorPublicKey)).size,
  });
  const { deceived } = simulateAttackers({ runs: 40, seed: 1 }, verify);
  expect(new Set(deceived.map(({ name }) => name))).toContain("combines by chance");
});
