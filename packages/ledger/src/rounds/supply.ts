/** Supply of the network, and the share of the votes that a delegate has (state.md 4.2 and 4.3). */
import type { Network } from "@uniknode/protocol";
import type { Delegate } from "../state/tables.ts";

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

/** `voteBalance` as a percentage of `total`, with two decimals as in the API. 0 if the total is 0. */
export function approval(voteBalance: bigint, total: bigint): number {
  if (total === 0n) return 0;
  // The quotient is truncated after a number of digits that depends on both lengths: 2/3 gives 66.66, not 66.67.
  const exponent = digits(total) - digits(voteBalance) + 4;
  const scale = 10n ** BigInt(Math.abs(exponent));
  const quotient = exponent < 0 ? voteBalance / (total * scale) : (voteBalance * scale) / total;
  return Number((Number(quotient) / 10 ** (exponent - 2)).toFixed(2));
}

const digits = (value: bigint): number => String(value < 0n ? -value : value).length;

/** The vote balance that counts for approval: the weighted one if there is one. */
const weightOf = ({ weightedVoteBalance, voteBalance }: Delegate): bigint =>
  weightedVoteBalance ?? voteBalance;

/**
 * Approval while delegates are selected by type: the share among all registered delegates of the same type, resigned
 * ones included. A delegate without a type has 0.
 */
export function approvalByType(delegate: Delegate, registered: Iterable<Delegate>): number {
  if (delegate.type === undefined) return 0;
  let total = 0n;
  for (const other of registered) if (other.type === delegate.type) total += weightOf(other);
  return approval(weightOf(delegate), total);
}
