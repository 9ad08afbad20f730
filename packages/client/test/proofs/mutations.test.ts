/** Every byte and every member of a proof matters. `PROOF_MUTATIONS=100000` runs as many random mutations. */
import { present } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { verifyProof } from "../../src/proofs/index.ts";
import { provenExample } from "../../test-support/proofs/example.ts";
import { mutate } from "../../test-support/proofs/mutate.ts";
import { createRandom } from "../../test-support/proofs/scene.ts";

const COUNT = Number(process.env.PROOF_MUTATIONS ?? 300);
const SEED = Number(process.env.PROOF_SEED ?? 1);

test(`${COUNT} proofs with one altered byte or member are refused.`, { timeout: 60_000 + COUNT * 20 }, () => {
  const random = createRandom(SEED);
  const examples = [0, 1].map((advances) => provenExample(random, advances));
  for (const { proof, checkpoint, nowMs, id } of examples) {
    expect(verifyProof(proof, checkpoint, { nowMs, id })).toMatchObject({ verdict: "final" });
  }
  const steps = new Set<string>();
  for (let index = 0; index < COUNT; index++) {
    const { proof, checkpoint, nowMs, id } = present(examples[index % examples.length]);
    const { mutated, name } = mutate(proof, random);
    const verdict = verifyProof(mutated, checkpoint, { nowMs, id });
    // Without its last header, a proof is true, but has a signer less.
    const isRefused =
      verdict.verdict === "refused" || (verdict.verdict === "included" && /headers\/\d+: removed/.test(name));
    if (!isRefused) throw new Error(`mutation ${index} is accepted as ${verdict.verdict}: ${name}`);
    if (verdict.verdict === "refused") steps.add(verdict.step);
  }
  expect(steps.size).toBeGreaterThan(5);
});
