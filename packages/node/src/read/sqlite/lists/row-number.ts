/**
 * Plan "row number": blocks have no gaps, and each stores the number of transactions up to it, so that the first row of a page
 * follows from its number. Costs the rows of the page, and twenty index lookups to find a block.
 */
import type { Head } from "../../head.ts";
import type { Direction } from "../../page.ts";
import { betweenHeights, countOf, type Heights } from "./conditions.ts";
import type { StoredCounts } from "./count-cache.ts";
import type { Start } from "./offset-cache.ts";

/** Returns the heights of a page of all blocks between two heights; empty if the first is above the last. */
export function blocksOf(
  { low, high }: Heights,
  direction: Direction,
  range: { readonly offset: number; readonly limit: number },
): Heights & { readonly isLast: boolean } {
  const { limit } = range;
  // As in SQL.
  const offset = Math.max(0, range.offset);
  const [from, to] =
    direction === "asc"
      ? [low + offset, low + offset + limit - 1]
      : [high - offset - limit + 1, high - offset];
  return {
    low: Math.max(from, low),
    high: Math.min(to, high),
    isLast: offset + limit >= countOf({ low, high }),
  };
}

/** Transactions of one block are in the order of their sequence, or reversed. */
export type ChainOrder = { readonly direction: Direction; readonly sequence: Direction };

/** Returns where a page of all transactions between two heights starts, and the remaining offset from there. */
export function startOfTransactions(
  storedCounts: StoredCounts,
  head: Head,
  { low, high }: Heights,
  { direction, sequence }: ChainOrder,
  offset: number,
): Start {
  if (direction === "asc") {
    const above = storedCounts.upTo(low - 1) + offset;
    const height = storedCounts.heightOf(above + 1, head);
    return { offset: above - storedCounts.upTo(height - 1), from: betweenHeights({ low: height, high }) };
  }
  const below = storedCounts.upTo(high) - offset;
  const height = storedCounts.heightOf(below, head);
  if (sequence === "asc") {
    return { offset: storedCounts.upTo(height) - below, from: betweenHeights({ low, high: height }) };
  }
  const last = below - storedCounts.upTo(height - 1) - 1;
  return {
    offset: 0,
    from: { sql: "(height, sequence) <= (?, ?) AND height >= ?", values: [height, last, low] },
  };
}
