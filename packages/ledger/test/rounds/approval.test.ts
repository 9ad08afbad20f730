import { approval } from "@uniknode/ledger";
import { expect, test } from "vitest";

test("Approval is truncated before it is rounded.", () => {
  expect(approval(2n, 3n)).toBe(66.66);
  expect(approval(99_999n, 100_000n)).toBe(100);
  expect(approval(0n, 0n)).toBe(0);
});

test("Approval supports more votes than supply.", () => {
  expect(approval(10n ** 12n, 3n)).toBeGreaterThan(1e13);
});
