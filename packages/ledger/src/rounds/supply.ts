/** Supply of the network (state.md 4.2). */
import type { Network } from "@uniknode/protocol";

type Milestones = Pick<Network, "milestones">;

/** Sum of the milestone rewards of the heights 1 to `height`. */
function rewardsUpTo({ milestones }: Milestones, height: number): bigint {
  let sum = 0n;
  for (const [index, { height: start, reward }] of milestones.entries()) {
    if (start > height) break;
    const end = Math.min(height, (milestones[index + 1]?.height ?? height + 1) - 1);
    sum += BigInt(end - start + 1) * BigInt(reward);
  }
  return sum;
}

/**
 * Total supply at a height. The genesis block has no reward, whatever milestone 1 has (trap A20).
 *
 * @param premine amount that the genesis block created
 * @param rewarded forger, sender and foundation shares of all rewarded events up to the height (state.md 4.1)
 */
export const supplyAt = (network: Milestones, height: number, premine: bigint, rewarded: bigint): bigint =>
  premine + rewardsUpTo(network, height) - rewardsUpTo(network, 1) + rewarded;

/** The older formula: it counts height 1 and ignores rewarded events. Approval without types uses it. */
export const legacySupplyAt = (network: Milestones, height: number, premine: bigint): bigint =>
  premine + rewardsUpTo(network, height);
