import { expect, test } from "vitest";
import { isTooLarge, MAX_CONTENT_BYTES, thinned } from "../../src/events/thin.ts";

test.each([
  [
    "block.received",
    { id: "7", height: 3, totalFee: "1", transactions: [{ id: "a" }] },
    { id: "7", height: 3, link: "/api/v2/blocks/7" },
  ],
  [
    "transaction.applied",
    { id: "a", type: 0, asset: {} },
    { id: "a", type: 0, link: "/api/v2/transactions/a" },
  ],
  [
    "transaction.pool.added",
    [{ id: "a", asset: {} }, { id: "b" }],
    [
      { id: "a", link: "/api/v2/transactions/a" },
      { id: "b", link: "/api/v2/transactions/b" },
    ],
  ],
  [
    "transaction.pool.rejected",
    [{ transaction: { id: "a", asset: {} }, type: "ERR_LOW_FEE", message: "too low" }],
    [
      {
        type: "ERR_LOW_FEE",
        message: "too low",
        transaction: { id: "a", link: "/api/v2/transactions/a" },
      },
    ],
  ],
  [
    "unik.minted",
    { tokenId: "t", ownerId: "D1", transaction: { id: "a", asset: {} } },
    { tokenId: "t", ownerId: "D1", transaction: { id: "a", link: "/api/v2/transactions/a" } },
  ],
  [
    "wallet.saved",
    { address: "D1", publicKey: "02", attributes: { x: 1 } },
    { address: "D1", publicKey: "02", link: "/api/v2/wallets/D1" },
  ],
  ["state.started", true, undefined],
])("%s is told by what it is about", (name, content, expected) => {
  expect(thinned(name, content)).toEqual(expected);
});

test("a content is too large by its bytes, not by its characters", () => {
  expect(isTooLarge("x".repeat(MAX_CONTENT_BYTES))).toBe(false);
  expect(isTooLarge("x".repeat(MAX_CONTENT_BYTES + 1))).toBe(true);
  expect(isTooLarge("é".repeat(MAX_CONTENT_BYTES / 2))).toBe(false);
  expect(isTooLarge("é".repeat(MAX_CONTENT_BYTES / 2 + 1))).toBe(true);
});
