import { expect, test } from "vitest";
import { RULES } from "../../src/proofs/rules.ts";
import { createVerifyProof } from "../../src/proofs/verify.ts";
import { ATTACKS } from "../../test-support/proofs/attacks/all.ts";
import { succeeds } from "../../test-support/proofs/attacks/attempt.ts";
import { createRandom, createScene } from "../../test-support/proofs/scene.ts";

const verify = createVerifyProof(RULES);

test.each(ATTACKS.map((attack) => [attack.name, attack] as const))(
  "An attacker that %s succeeds only without the rule against it.",
  (_, { attempt, without }) => {
    for (const [seed, size] of [4, 23].entries()) {
      const attempted = attempt(createScene(createRandom(seed), size));
      expect(succeeds(attempted, verify), `${size} delegates`).toBe(false);
      expect(succeeds(attempted, createVerifyProof({ ...RULES, ...without })), `${size} delegates`).toBe(
        true,
      );
    }
  },
);

test("There is an attack against each rule.", () => {
  const stopped = new Set(ATTACKS.flatMap(({ without }) => Object.keys(without)));
  expect([...stopped].sort()).toEqual(Object.keys(RULES).sort());
});
