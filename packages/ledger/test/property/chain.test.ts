/**
 * Random chains of every transaction type. A failure names its seed: `LEDGER_SEED=<seed> vitest run <this file>`
 * runs that chain alone.
 */
import { describe, expect, test } from "vitest";
import { type Coverage, createRandomChain } from "./chain.ts";
import { createRandom } from "./random.ts";
import { TYPES } from "./transactions.ts";
import { LAST_HEIGHT } from "./world.ts";

const { LEDGER_SEED } = process.env;
const SEEDS = LEDGER_SEED === undefined ? [1, 2, 3] : [Number(LEDGER_SEED)];

const coverage: Coverage = { applied: new Set(), rewarded: new Set(), refused: new Set() };

/** Refusals that are too improbable to require. */
const EXPECTED_REFUSALS = [
  "UnexpectedNonceError",
  "InsufficientBalanceError",
  "InvalidSecondSignatureError",
  "InvalidMultiSignaturesError",
  "DeactivatedTransactionHandlerError",
  "NftOwnerError",
  "ConstraintError",
  "WrongFeeError",
  "VoucherAlreadyUsedError",
  "DiscloseDemandAlreadyExistsError",
  "NftCertificationBadSignatureError",
  "VoteUnikTypeError",
  "InvalidDidTypeError",
  "HtlcLockExpiredError",
  "BusinessIsResignedError",
  "EntityNotRegisteredError",
];

describe("a random chain", () => {
  test.each(SEEDS)(
    "A random chain with seed %i extends, reverts and extends again to the same state.",
    (seed) => {
      const random = createRandom(seed);
      const chain = createRandomChain(random, coverage);
      while (chain.height() < LAST_HEIGHT) {
        for (let blocks = 1 + random.below(8); blocks > 0; blocks--) chain.grow();
        const before = chain.image();
        const removed = chain.shrink(1 + random.below(6));
        // Another branch in between must leave nothing behind.
        if (random.oneIn(2)) {
          const length = 1 + random.below(4);
          for (let blocks = length; blocks > 0; blocks--) chain.grow();
          chain.shrink(length);
        }
        if (random.oneIn(4)) continue;
        chain.regrow(removed);
        expect(chain.image()).toBe(before);
      }
      chain.shrink(chain.height() - 1);
      expect(chain.height()).toBe(1);
    },
  );

  test.runIf(LEDGER_SEED === undefined)("A random chain covers every type, and the common refusals.", () => {
    expect(coverage.rewarded).toEqual(new Set(["2001/3", "2001/4"]));
    expect(TYPES.filter((type) => !coverage.applied.has(type))).toEqual([]);
    expect(EXPECTED_REFUSALS.filter((code) => !coverage.refused.has(code))).toEqual([]);
  });
});
