import fc from "fast-check";
import { expect, test } from "vitest";
import { tokensOf, unitsOf } from "../../src/submission/amounts.ts";

test.each([
  ["1", 100_000_000n],
  ["12.5", 1_250_000_000n],
  ["0.00000001", 1n],
  ["0", 0n],
  ["999999999999.99999999", 99_999_999_999_999_999_999n],
])("%s tokens are %d", (text, units) => {
  expect(unitsOf(text)).toBe(units);
  expect(tokensOf(units)).toBe(text);
});

test.each(["", "1.", ".5", "-1", "+1", "1,5", "1e3", "0.123456789", " 1", "0x10", "1234567890123"])(
  "%j is not an amount",
  (text) => {
    expect(() => unitsOf(text)).toThrow(RangeError);
  },
);

test("The formatter accepts a negative amount, such as of the wallet that paid the premine.", () => {
  expect(tokensOf(-150_000_000n)).toBe("-1.5");
  expect(tokensOf(-1n)).toBe("-0.00000001");
});

test("Every formatted amount can be parsed.", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n - 1n }), (units) => {
      expect(unitsOf(tokensOf(units))).toBe(units);
    }),
  );
});
