import { createNetwork, livenet } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { blockLimits } from "../../src/pool/block-limits.ts";

test("Transactions of a block leave 10 KiB of it to the header and the lengths.", () => {
  const milestone = createNetwork(livenet).milestoneAt(2);
  const { maxPayload, maxTransactions } = milestone.block;
  expect(blockLimits(milestone)).toEqual({ maxTransactions, maxBytes: maxPayload - 10_240 });
});
