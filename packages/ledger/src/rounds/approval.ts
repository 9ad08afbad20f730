/** Share of the votes that a delegate has (state.md 4.3). */
import type { Delegate } from "../state/tables.ts";

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
