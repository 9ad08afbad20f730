import { createNetwork, dalinet, type Transaction } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { createdRewards } from "../../src/http/resources/blocks.ts";
import { present } from "../../src/platform/present.ts";
import type { Snapshot } from "../../src/read/port.ts";

/** From height 10 on, individuals are rewarded when they become alive instead of when they are minted. */
const network = createNetwork({
  ...dalinet,
  milestones: [present(dalinet.milestones[0], "the first milestone"), { height: 10, unsTokenEcoV2: true }],
});

const certified = (type: number, properties: Record<string, string>, tokenId = "individual") =>
  ({ typeGroup: 2001, type, asset: { nft: { unik: { tokenId, properties } } } }) as unknown as Transaction;
const mint = (type: string, voucher?: string) =>
  certified(3, { type, ...(voucher !== undefined && { UnikVoucherId: voucher }) });
const alive = (tokenId: string) => certified(4, { "LifeCycle/Status": "3" }, tokenId);

function rewardsAt(height: number, ...transactions: Transaction[]) {
  const snapshot = {
    transactions: { certifiedInBlock: async () => transactions },
    tokens: { find: async (id: string) => ({ type: id === "individual" ? "1" : "2" }) },
  };
  const block = { height, numberOfTransactions: transactions.length };
  return createdRewards(network, snapshot as unknown as Snapshot, block);
}

test.each([
  ["nothing without rewarded transactions", 5, [mint("1"), alive("individual")], "0", "0"],
  ["minter and forger of a voucher mint", 5, [mint("1", "v")], "1100000000", "8900000000"],
  ["nothing for an empty voucher", 5, [mint("1", "")], "0", "0"],
  [
    "all mints, but the last foundation share",
    5,
    [mint("3", "a"), mint("2", "b")],
    "110200000000",
    "989900000000",
  ],
  ["the rules of the block below", 10, [mint("1", "v")], "1100000000", "8900000000"],
  ["no mint of an individual under V2", 11, [mint("1", "v"), alive("organization")], "0", "0"],
  ["an individual that becomes alive under V2", 11, [alive("individual")], "1100000000", "8900000000"],
  ["a type with letters as its number", 5, [mint("2b", "v")], "10100000000", "989900000000"],
  ["a mint of an organization under V2", 11, [mint("2", "v")], "10100000000", "989900000000"],
])(
  "The sum of rewards counts %s.",
  async (_name, height, transactions, unikMintRewards, foundationRewards) => {
    expect(await rewardsAt(height, ...transactions)).toEqual({ unikMintRewards, foundationRewards });
  },
);

test("The sum of rewards is absent for a block without transactions.", async () => {
  expect(await rewardsAt(5)).toBeUndefined();
});
