/** `voteBalance` as a percentage of `total` (state.md 4.3), with two decimals as in the API. 0 if the total is 0. */
export function approval(voteBalance: bigint, total: bigint): number {
  if (total === 0n) return 0;
  // The quotient is truncated after a number of digits that depends on both lengths: 2/3 gives 66.66, not 66.67.
  const exponent = digits(total) - digits(voteBalance) + 4;
  const scale = 10n ** BigInt(Math.abs(exponent));
  const quotient = exponent < 0 ? voteBalance / (total * scale) : (voteBalance * scale) / total;
  return Number((Number(quotient) / 10 ** (exponent - 2)).toFixed(2));
}

const digits = (value: bigint): number => String(value < 0n ? -value : value).length;
