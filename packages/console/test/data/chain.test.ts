import { present } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { reorganizationBetween } from "../../src/data/chain.ts";
import { blocks } from "../../test-support/chain.ts";

test("An extended chain has no reverted blocks.", () => {
  expect(reorganizationBetween(blocks(10, 5), blocks(12, 7))).toBeUndefined();
});

test("The first blocks of a page revert nothing.", () => {
  expect(reorganizationBetween([], blocks(3, 1))).toBeUndefined();
});

test("Blocks that another branch replaced are reverted, newest first.", () => {
  const branch = [...blocks(11, 9, { branch: "b" }), ...blocks(8, 5)];
  const { reverted, isDeep } = present(reorganizationBetween(blocks(10, 5), branch));
  expect(reverted.map(({ id }) => id)).toEqual(["a-10", "a-9"]);
  expect(isDeep).toBe(false);
});

test("A chain that returned to an earlier block has reverted the later ones.", () => {
  const { reverted } = present(reorganizationBetween(blocks(10, 5), blocks(7, 2)));
  expect(reverted.map(({ height }) => height)).toEqual([10, 9, 8]);
});

test("Without a common block, unknown blocks may be reverted as well.", () => {
  expect(reorganizationBetween(blocks(10, 5), blocks(12, 5, { branch: "b" }))?.isDeep).toBe(true);
});

test("Blocks below a gap are not regarded as reverted.", () => {
  expect(reorganizationBetween(blocks(10, 5), blocks(100, 70))).toBeUndefined();
});
