import { approval, approvalByType, type Delegate, legacySupplyAt, supplyAt } from "@uniknode/ledger";
import { createNetwork, livenet, present } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";

const network = createNetwork(livenet);

describe("supply", () => {
  test("Trap A20: the genesis block has no reward.", () => {
    expect(supplyAt(network, 1, 1000n, 0n)).toBe(1000n);
    expect(supplyAt(network, 3, 1000n, 0n)).toBe(1000n + 400_000_000n);
  });

  test("Rewarded events add their three shares to the supply.", () => {
    expect(supplyAt(network, 2, 0n, 123n)).toBe(200_000_123n);
  });

  test("The older formula of the supply counts height 1, and follows the milestones.", () => {
    expect(legacySupplyAt(network, 1, 0n)).toBe(200_000_000n);
    const atChange = legacySupplyAt(network, 5_894_968, 0n);
    expect(legacySupplyAt(network, 5_894_969, 0n) - atChange).toBe(100_000_000n);
  });
});

describe("approval", () => {
  const delegate = (type: number | undefined, voteBalance: bigint, weighted?: bigint): Delegate => ({
    username: "",
    voteBalance,
    forgedFees: 0n,
    forgedRewards: 0n,
    producedBlocks: 0,
    round: 0,
    ...(type !== undefined && { type }),
    ...(weighted !== undefined && { weightedVoteBalance: weighted }),
  });

  test("Approval is truncated before it is rounded.", () => {
    expect(approval(2n, 3n)).toBe(66.66);
    expect(approval(99_999n, 100_000n)).toBe(100);
    expect(approval(0n, 0n)).toBe(0);
  });

  test("Approval supports more votes than supply.", () => {
    expect(approval(10n ** 12n, 3n)).toBeGreaterThan(1e13);
  });

  test("Approval by type is the share within the type, with weighted values if there are some.", () => {
    const registered = [
      delegate(1, 100n),
      delegate(1, 900n, 300n),
      delegate(2, 5000n),
      delegate(undefined, 7n),
    ];
    expect(approvalByType(present(registered[0], "an item of registered"), registered)).toBe(25);
    expect(approvalByType(present(registered[1], "an item of registered"), registered)).toBe(75);
    expect(approvalByType(present(registered[2], "an item of registered"), registered)).toBe(100);
    expect(approvalByType(present(registered[3], "an item of registered"), registered)).toBe(0);
  });
});
