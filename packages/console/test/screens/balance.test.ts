import { describe, expect, test } from "vitest";
import { balanceCurve, pointAt } from "../../src/screens/wallets/balance-curve.ts";

const curve = (balances: readonly bigint[], untilMs = balances.length * 10) =>
  balanceCurve(
    balances.map((balance, index) => ({ timeMs: index * 10, balance })),
    untilMs,
  );

describe("The curve of a balance", () => {
  test("The curve of a balance is constant between points, and up to the end.", () => {
    expect(curve([0n, 100n, 50n], 40).path).toBe("M0 48.0H60.0V0.0H120.0V24.0H240");
    expect(curve([4n], 0).path).toBe("M0 0.0H240");
  });

  test.each([
    [
      [0n, 100n],
      [100n, 50n, 0n],
    ],
    [
      [3n, 700n],
      [800n, 600n, 400n, 200n, 0n],
    ],
    [
      [1_000n, 1_003n],
      [1_003n, 1_002n, 1_001n, 1_000n],
    ],
    [
      [999_900_000_000n, 999_990_000_000n],
      [1_000_000_000_000n, 999_950_000_000n, 999_900_000_000n],
    ],
    [
      [7n, 7n],
      [8n, 6n, 4n, 2n, 0n],
    ],
    [
      [0n, 0n],
      [1n, 0n],
    ],
    [
      [-5n, 5n],
      [5n, 0n, -5n],
    ],
    [
      [-8n, -8n],
      [-7n, -8n],
    ],
  ])("The curve of a balance has round ticks for %s.", (balances, ticks) => {
    expect(curve(balances).valueTicks).toEqual(ticks);
  });

  test("The curve of a balance is on its axis for any balances.", () => {
    for (const balances of [
      [0n],
      [1n],
      [0n, 1n],
      [9_531_999_990_000_001n, 9_532_000_000_000_000n],
      [-1n, 10n ** 18n],
    ]) {
      const { positions, valueTicks } = curve(balances);
      for (const { x, y } of positions) {
        for (const part of [x, y]) expect(part >= 0 && part <= 1).toBe(true);
      }
      expect(valueTicks.length).toBeGreaterThanOrEqual(2);
      expect(valueTicks.length).toBeLessThanOrEqual(6);
    }
  });

  test("The curve of a balance has the last point before a position.", () => {
    const steps = curve([1n, 2n, 3n], 40);
    expect([0, 0.24, 0.26, 0.5, 1].map((part) => pointAt(steps, part))).toEqual([0, 0, 1, 2, 2]);
  });
});
