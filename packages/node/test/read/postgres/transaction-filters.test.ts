/** Filters of transactions whose pages and counts need no search. */
import { expect, test } from "vitest";
import type { TransactionFilter } from "../../../src/read/filters.ts";
import { isOfHeightsOnly, isOfTypes } from "../../../src/read/transaction-rules.ts";

/** A route passes all parameters of its request. */
const PARAMETERS = { page: "2", limit: "100", offset: "300", orderBy: "timestamp:desc", transform: "true" };
const PAGE = PARAMETERS as object as TransactionFilter;

test("Parameters of the page are not filters.", () => {
  expect(isOfHeightsOnly({ ...PAGE })).toBe(true);
  expect(isOfHeightsOnly({ ...PAGE, timestamp: 7 })).toBe(true);
  expect(isOfTypes({ ...PAGE, type: 0 })).toBe(true);
});

test("Every other filter needs a search.", () => {
  expect(isOfHeightsOnly({ ...PAGE, amount: 1 })).toBe(false);
  expect(isOfHeightsOnly({ participant: "D" })).toBe(false);
  expect(isOfTypes({ type: 0, nonce: 1 })).toBe(false);
  expect(isOfTypes({ ...PAGE })).toBe(false);
});
