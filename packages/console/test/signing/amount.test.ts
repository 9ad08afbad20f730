import { describe, expect, test } from "vitest";
import { plainAmount, readAmount } from "../../src/signing/amount.ts";

describe("An amount", () => {
  test.each([
    ["1", 100_000_000n],
    [" 12.5 ", 1_250_000_000n],
    ["0.00000001", 1n],
    ["007.10", 710_000_000n],
    ["9007199254.74099301", 900_719_925_474_099_301n],
    ["92233720368.54775807", 2n ** 63n - 1n],
  ])("%s is exact to the smallest unit.", (text, amount) => {
    expect(readAmount(text)).toEqual({ amount });
    expect(readAmount(plainAmount(amount))).toEqual({ amount });
  });

  test.each([
    ["", "missing"],
    ["  ", "missing"],
    ["1,000", "without separators"],
    ["1 000", "without separators"],
    ["1'000", "without separators"],
    ["12,5", "without separators"],
    ["0", "more than 0"],
    ["0.00000000", "more than 0"],
    ["-1", "more than 0"],
    ["1.000000001", "8 decimals"],
    ["1e3", "not an amount"],
    ["0x10", "not an amount"],
    [".5", "not an amount"],
    ["5.", "not an amount"],
    ["٣", "not an amount"],
    ["92233720368.54775808", "The amount must be at most"],
    ["9999999999999", "The amount must be at most"],
  ])("%j is refused with the reason.", (text, reason) => {
    expect(readAmount(text).amount).toBeUndefined();
    expect(readAmount(text).fault).toContain(reason);
  });
});
