import fc from "fast-check";
import { expect, test } from "vitest";
import { createTimestampOf } from "../../src/http/core/values.ts";
import { sumText } from "../../src/http/responses/block.ts";

const LAST_MS = 8_640_000_000_000_000;

test("Times are formatted as by Date, in any order.", () => {
  const timestampOf = createTimestampOf((unixMs) => unixMs);
  const edges = [0, 1, 999, 86_399_999, 86_400_000, -1, -86_400_000, 253_402_300_800_000, LAST_MS, -LAST_MS];
  const moment = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: -LAST_MS, max: LAST_MS }));
  const near = fc.integer({ min: 1_600_000_000_474, max: 1_600_200_000_474 });
  fc.assert(
    fc.property(fc.array(fc.oneof(moment, near), { maxLength: 20 }), (moments) => {
      for (const unixMs of moments) expect(timestampOf(unixMs).human).toBe(new Date(unixMs).toISOString());
    }),
    { numRuns: 500 },
  );
});

test("Sums of amounts have all their digits.", () => {
  const amount = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
    fc.bigInt({ min: 0n, max: 10n ** 16n }),
  );
  fc.assert(
    fc.property(amount, amount, (one, other) => {
      expect(sumText(`${one}`, `${other}`)).toBe(`${one + other}`);
    }),
    { numRuns: 2_000, examples: [[999_999_999_999_999n, 999_999_999_999_999n]] },
  );
});
