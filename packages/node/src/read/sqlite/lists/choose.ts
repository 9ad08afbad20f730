/** Chooses the plan that finds a page. The choice depends only on the query and on counts; this file reads no rows. */
import type { Scan } from "./access-paths.ts";

/** Plan that finds a page. Each plan has a file in this folder, whose header states its cost. */
export type Plan = "none" | "row" | "index" | "time-boxed scan" | "count" | "value index" | "match";

export type Asked = {
  readonly collection: "blocks" | "transactions" | "wallets" | "tokens";
  /**
   * Kind of filter: none; heights only; tests that match few blocks or depend on the head (`blocks`); or values of
   * columns.
   */
  readonly filter: "none" | "heights" | "blocks" | "values";
  /** True if the rows are stored in the requested order: by their position in the chain, or by an index of all rows. */
  readonly isInOrder: boolean;
  readonly scan: Scan;
  /** Number of rows before the page, unless it starts after a cursor. */
  readonly offset: number;
  readonly isAfter: boolean;
};

/** Results determined so far; absent members are not determined yet. */
export type Known = {
  /** Number of rows of all pages. */
  readonly total?: number;
  /** Number of rows identified by their positions, if an index or a value index found them. */
  readonly matches?: number | "unknown";
  /** True if a value index in memory has the requested order. */
  readonly isIndexed?: boolean;
};

/** A result that must be determined before a plan can be chosen. */
export type Question = "total" | "matches" | "value index";

export type Choice = { readonly plan: Plan } | { readonly learn: Question };

export type Bounds = {
  /** Minimum number of rows for which a value index is built. */
  readonly minIndexedRows: number;
};

/**
 * Maximum number of rows to sort, which takes some milliseconds: by their positions or as an index finds them, and by a value
 * for which each row is looked up.
 */
export const MAX_SORTED = 20_000;
export const MAX_LOOKED_UP = 2_000;
/** Rows of a small table (wallets, uniks) that one statement sorts by a value within the time of a list, about 50 ms. */
export const MAX_SORTED_OF_TABLE = 120_000;
/** Offset beyond which skipping transactions one by one is too slow. */
export const FAR = 200;
/** The limit `FAR` for rows that an index has in order. */
export const FAR_IN_INDEX = 1_000;

export function choosePlan(asked: Asked, known: Known, { minIndexedRows }: Bounds): Choice {
  const { collection, filter, isInOrder, offset, isAfter } = asked;
  const isOfHeights = filter === "none" || filter === "heights";
  // Blocks are numbered without gaps and need no counting.
  if (collection === "blocks" && isOfHeights && isInOrder && !isAfter) return { plan: "row" };
  const isTransactions = collection === "transactions";
  if (isTransactions && filter === "values") {
    const { matches } = known;
    if (matches === undefined) return { learn: "matches" };
    if (matches !== "unknown" && matches <= (isInOrder ? MAX_SORTED : MAX_LOOKED_UP))
      return { plan: "match" };
  }
  const { total } = known;
  if (total === undefined) return { learn: "total" };
  if (offset >= total && !isAfter) return { plan: "none" };
  const walk: Choice = { plan: isAtOnce(asked, total) ? "index" : "time-boxed scan" };
  if (!isTransactions) {
    const isFar = filter === "none" && isInOrder && offset >= FAR_IN_INDEX;
    return isFar ? { plan: "count" } : walk;
  }
  if (isInOrder && isOfHeights) return { plan: offset >= FAR ? "row" : "index" };
  // A few blocks are sorted, and a value index of all rows does not help.
  if (filter === "heights" || filter === "blocks") return walk;
  if (isInOrder) {
    // Values that nearly all rows have are found along the chain rather than by the index of the value.
    const isAlongTheChain = known.matches !== undefined && known.matches !== "unknown";
    return isAlongTheChain || offset >= FAR ? { plan: "count" } : walk;
  }
  if (total < minIndexedRows) return walk;
  if (known.isIndexed === undefined) return { learn: "value index" };
  return known.isIndexed ? { plan: "value index" } : walk;
}

/** Returns whether one statement can read all rows that must be read. */
function isAtOnce({ scan, collection }: Asked, total: number): boolean {
  const isSmall = collection === "wallets" || collection === "tokens";
  return scan === "bounded" || (scan === "sorted" && total <= (isSmall ? MAX_SORTED_OF_TABLE : MAX_SORTED));
}
