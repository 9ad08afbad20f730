import { createDraft, createMemoryState, type ShownAttributes } from "@uniknode/ledger";
import { expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { withHoldings } from "../../../src/store/state/holdings.ts";
import { walletWrites } from "../../../test-support/store/holdings.ts";

/** Returns the attributes of a wallet with a number of tokens, as events show them. */
function shownWith(count: number): ShownAttributes {
  const tokens = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`token ${index}`, { type: 1 }]),
  );
  const attributes = { tokens, ipfs: { hashes: { Qm1: true as const } }, vote: "key" };
  const state = createDraft(createMemoryState());
  for (const { table, key, after } of walletWrites({ address: "A", balance: 1n, nonce: 0n, attributes }))
    state.set(table, key, after);
  return withHoldings(state, present(state.get("wallets", "A"))).attributes as object;
}

test("An event about a wallet contains up to ten holdings of a kind, in order.", () => {
  const { tokens = {}, ipfs, vote } = shownWith(10);
  expect(Object.keys(tokens)).toEqual(Array.from({ length: 10 }, (_, index) => `token ${index}`));
  expect([ipfs, vote]).toEqual([{ hashes: { Qm1: true } }, "key"]);
});

test("An event about a wallet omits a larger collection, and nothing else.", () => {
  expect(shownWith(11)).toEqual({ ipfs: { hashes: { Qm1: true } }, vote: "key" });
});
