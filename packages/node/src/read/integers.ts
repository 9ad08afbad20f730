/** Integers of filters, which can exceed the range of databases: signed integers of 64 bits. */
import type { Integer, Interval } from "./page.ts";

/** Closed interval; an absent end is unbounded. */
export type Ends = { readonly low?: bigint; readonly high?: bigint };

const [MIN, MAX] = [-(2n ** 63n), 2n ** 63n - 1n];

export const isInteger64 = (value: bigint): boolean => value >= MIN && value <= MAX;

/** Returns the ends of a value or an interval without those beyond all stored values; undefined if no stored value is within. */
export function endsOf(wanted: Integer | Interval): Ends | undefined {
  const { from, to } = typeof wanted === "object" ? wanted : { from: wanted, to: wanted };
  const [low, high] = [from, to].map((end) => (end === undefined ? undefined : BigInt(end)));
  if ((low !== undefined && low > MAX) || (high !== undefined && high < MIN)) return undefined;
  return {
    ...(low !== undefined && low >= MIN && { low }),
    ...(high !== undefined && high <= MAX && { high }),
  };
}
